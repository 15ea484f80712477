/**
 * The output of a job as lines. Chunks of output may be cut anywhere; a carriage return restarts its line, as in a
 * terminal; colours continue from line to line. Ten MiB are a hundred thousand short strings and nothing else.
 */

// Every control sequence except colours: titles and links (OSC), cursor movements, charsets.
const CONTROL_SEQUENCES =
  // oxlint-disable-next-line no-control-regex
  /\u001b(?:\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|\[[0-9;:?<=>]*[ -/]*[@-ln-~]|[()*+][0-9A-Za-z]|[0-9A-Za-z=><~|}])/g;
// oxlint-disable-next-line no-control-regex
const COLOUR = /\u001b\[([0-9;:]*)m/g;
const MAX_LINE_LENGTH = 20_000;
const MAX_COLOUR_LENGTH = 120;

export interface LogLine {
  text: string;
  /** The colour codes in force at the start of the line. */
  colour: string;
  /** True for a note about the output, such as the start of another attempt. */
  note?: true;
  /** When the server received its beginning; `null` for a note. */
  at: number | null;
}

export class LogLines {
  readonly #lines: LogLine[] = [];
  readonly #listeners = new Set<() => void>();
  #open = '';
  #openedAt = 0;
  #colour = '';
  #version = 0;
  #mayNotify = true;

  /** The number of lines; the last one may still grow. */
  get length(): number {
    return this.#lines.length + (this.#open === '' ? 0 : 1);
  }

  get version(): number {
    return this.#version;
  }

  at(index: number): LogLine | undefined {
    return this.#lines[index] ?? (index === this.#lines.length ? this.#line(this.#open) : undefined);
  }

  append(text: string, at: number): void {
    if (this.#open === '') this.#openedAt = at;
    const parts = (this.#open + text).split('\n');
    this.#open = parts.pop() ?? '';
    for (const part of parts) {
      this.#push(part);
      this.#openedAt = at;
    }
    // A very long line would be scanned again with every chunk.
    while (this.#open.length > MAX_LINE_LENGTH) {
      this.#push(this.#open.slice(0, MAX_LINE_LENGTH));
      this.#open = this.#open.slice(MAX_LINE_LENGTH);
    }
    this.#notify();
  }

  note(text: string): void {
    if (this.#open !== '') this.#push(this.#open);
    this.#open = '';
    this.#lines.push({ text, colour: '', note: true, at: null });
    this.#notify();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #push(raw: string): void {
    const line = this.#line(raw);
    this.#lines.push(line);
    this.#colour = colourAfter(line);
  }

  #line(raw: string): LogLine {
    const clean = raw.includes('\u001b') ? raw.replace(CONTROL_SEQUENCES, '') : raw;
    return { text: collapsed(clean), colour: this.#colour, at: this.#openedAt };
  }

  /** Calls the listeners once per frame, however much output arrives. */
  #notify(): void {
    this.#version += 1;
    if (!this.#mayNotify) return;
    this.#mayNotify = false;
    requestAnimationFrame(() => {
      this.#mayNotify = true;
      for (const listener of this.#listeners) listener();
    });
  }
}

/** The last version of a line that was overwritten, as a terminal shows it. */
function collapsed(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === '\r') end -= 1;
  return line.slice(end === 0 ? 0 : line.lastIndexOf('\r', end - 1) + 1, end);
}

function colourAfter({ text, colour }: LogLine): string {
  if (!text.includes('\u001b')) return colour;
  let now = colour;
  for (const [code, parameters = ''] of text.matchAll(COLOUR)) {
    now = parameters === '' || /^0*$/.test(parameters) ? '' : (now + code).slice(-MAX_COLOUR_LENGTH);
  }
  return now;
}

/** The text of the line without colour codes. */
export function plainText(line: LogLine): string {
  return line.text.includes('\u001b') ? line.text.replace(COLOUR, '') : line.text;
}
