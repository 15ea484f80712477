/** Reads one command's pipe no faster than the worker takes it, and does not wait forever for its end. */

import { Socket } from 'node:net';

const BUFFER_BYTES = 64 * 1024;
/** The maximum size of a pipe. More output after the end of a tree comes from a process that escaped. */
const LAST_BYTES = 1024 * 1024;
/** How long to read a pipe that is still held open after the tree has ended. */
const LINGER_MS = 100;

/** Shared by all pipes: it is only used within one callback. */
const buffer = Buffer.allocUnsafe(BUFFER_BYTES);

export interface ReaderEvents {
  /** The bytes are valid only during the call. */
  onData: (data: Buffer) => void;
  /** `clean`: every writer has closed the pipe. Called once. */
  onEnd: (clean: boolean) => void;
}

export class OutputReader {
  readonly #events: ReaderEvents;
  readonly #socket: Socket;
  #credit: number;
  #paused = false;
  /** Counts down once the tree has ended. */
  #lastBytes = Number.POSITIVE_INFINITY;
  #linger: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(fd: number, credit: number, events: ReaderEvents) {
    this.#events = events;
    this.#credit = credit;
    const onread = { buffer, callback: (count: number) => this.#take(count) };
    this.#socket = new Socket({ fd, readable: true, writable: false, onread });
    this.#socket.on('end', () => this.#end(true));
    this.#socket.on('error', () => this.#end(false));
    this.#socket.read(0);
  }

  /** Allows this many more bytes to be read. */
  addCredit(bytes: number): void {
    this.#credit += bytes;
    if (!this.#paused || this.#credit <= 0) return;
    this.#paused = false;
    this.#rearm();
    this.#socket.resume();
  }

  /** Reads what is left and ends. No process of the tree is alive. */
  finish(): void {
    if (this.#ended) return;
    this.#lastBytes = LAST_BYTES;
    this.#rearm();
  }

  #take(count: number): boolean {
    if (this.#ended) return false;
    this.#credit -= count;
    this.#lastBytes -= count;
    this.#events.onData(buffer.subarray(0, count));
    if (this.#lastBytes <= 0) {
      this.#end(false);
      return false;
    }
    this.#paused = this.#credit <= 0;
    this.#rearm();
    return !this.#paused;
  }

  #rearm(): void {
    if (this.#lastBytes === Number.POSITIVE_INFINITY) return;
    clearTimeout(this.#linger);
    if (!this.#paused) this.#linger = setTimeout(() => this.#end(false), LINGER_MS);
  }

  #end(clean: boolean): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#linger);
    this.#socket.destroy();
    this.#events.onEnd(clean);
  }
}
