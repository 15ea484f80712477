/** Output of jobs for a terminal: colours and line breaks stay, everything else that a terminal would obey is made visible. */

/** `ESC [ … m` sets colours and styles. */
const OBEYED =
  // oxlint-disable-next-line no-control-regex
  /(\u001b\[[0-9;:]{0,32}m)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
/** The beginning of a colour, at the end of a chunk. */
// oxlint-disable-next-line no-control-regex
const UNFINISHED = /\u001b(\[[0-9;:]{0,32})?$/;

/** Takes output in chunks that may end within a character or within a colour. */
export class TerminalText {
  readonly #decoder = new TextDecoder();
  #held = '';
  /** True once something was made visible. */
  hasChanged = false;

  push(data: string | Uint8Array): string {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    const text = this.#held + this.#decoder.decode(bytes, { stream: true });
    this.#held = UNFINISHED.exec(text)?.[0] ?? '';
    return this.#visible(text.slice(0, text.length - this.#held.length));
  }

  /** Returns what was held back. */
  end(): string {
    const rest = this.#held + this.#decoder.decode();
    this.#held = '';
    return this.#visible(rest);
  }

  #visible(text: string): string {
    const shown = visible(text);
    this.hasChanged ||= shown !== text;
    return shown;
  }
}

function visible(text: string): string {
  return text.replaceAll(OBEYED, (found, colour: string | undefined) => {
    if (colour !== undefined) return colour;
    const code = found.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '␡' : '�';
  });
}

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
