/** A line on stderr that is drawn again and again while a command waits. In a pipe there is none. */

import { oneLine, styled } from './style.ts';
import { truncate } from './table.ts';
import { span } from './when.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;
const CLEAR = '\r\u001b[K';

export class StatusLine implements Disposable {
  readonly #since = Date.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #text: string;
  #frame = 0;
  #held = false;

  constructor(text: string) {
    this.#text = text;
    if (process.stderr.isTTY) this.#timer = setInterval(() => this.#draw(), FRAME_MS).unref();
  }

  show(text: string): void {
    this.#text = text;
  }

  /** Makes room for output. The line comes back unless the output ended in the middle of a line. */
  makeRoom(outputEndsLine: boolean): void {
    if (this.#timer === undefined) return;
    if (!this.#held) process.stderr.write(CLEAR);
    this.#held = !outputEndsLine;
  }

  [Symbol.dispose](): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.makeRoom(true);
  }

  #draw(): void {
    if (this.#held || this.#text === '') return;
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const elapsed = span(Math.floor((Date.now() - this.#since) / 1_000) * 1_000);
    const room = (process.stderr.columns ?? 80) - elapsed.length - 5;
    const text = truncate(oneLine(this.#text), Math.max(1, room));
    process.stderr.write(
      `${CLEAR}${styled('cyan', FRAMES[this.#frame] as string, process.stderr)} ${text}  ${elapsed}`,
    );
  }
}
