/** Where lines begin in a text. The parser's own count misses line ends within what it could not make sense of. */
export class LineStarts {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) this.#starts.push(end + 1);
  }

  /** Both count from 1. */
  placeOf(offset: number): { line: number; column: number } {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#starts[low] as number) + 1 };
  }
}
