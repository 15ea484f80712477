/** Puts the time before each line of output that arrives in chunks. A line has the time of the chunk in which it begins. */

const NEWLINE = 0x0a;

export class LineTimes {
  #open = false;

  /** Returns the bytes with `<at> ` at the start of each line. */
  push(data: Uint8Array, at: string): Uint8Array {
    const prefix = new TextEncoder().encode(`${at} `);
    const parts: Uint8Array[] = [];
    for (let from = 0; from < data.length; ) {
      const newline = data.indexOf(NEWLINE, from);
      const end = newline === -1 ? data.length : newline + 1;
      if (!this.#open) parts.push(prefix);
      parts.push(data.subarray(from, end));
      this.#open = newline === -1;
      from = end;
    }
    return Buffer.concat(parts);
  }

  /** The next byte begins a line, whatever came before. */
  newLine(): void {
    this.#open = false;
  }
}
