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
    const text = this.#rest + (typeof data === 'string' ? data : this.#decoder.decode(data, { stream: true }));
    const lines = text.split('\n');
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
