/** Puts a prefix before each line of a text that arrives in pieces. */
export class PrefixedLines {
  readonly #prefix: string;
  readonly #decoder = new TextDecoder();
  #rest = '';

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Returns the lines that are complete. */
  push(data: string | Uint8Array): string {
    const text = typeof data === 'string' ? data : this.#decoder.decode(data, { stream: true });
    // Only what is new is searched: a line may come in many pieces.
    const lines = text.split('\n');
    lines[0] = this.#rest + (lines[0] ?? '');
    this.#rest = lines.pop() ?? '';
    return lines.map((line) => `${this.#prefix}${line}\n`).join('');
  }

  /** Returns the last line, which has no end. */
  end(): string {
    const rest = this.#rest;
    this.#rest = '';
    return rest === '' ? '' : `${this.#prefix}${rest}\n`;
  }
}
