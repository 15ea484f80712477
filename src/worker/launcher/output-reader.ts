/** Reads one command's pipe no faster than the worker takes it, and never waits for ever for its end. */

import { Socket } from 'node:net';

const BUFFER_BYTES = 64 * 1024;
/** What a pipe can hold at most; beyond it, output after the end of a tree comes from a process that got away. */
const LAST_BYTES = 1024 * 1024;
/** How long a pipe that somebody still holds open is listened to after the tree has ended. */
const LINGER_MS = 100;

/** Shared by all pipes: it is used and left within one callback. */
const buffer = Buffer.allocUnsafe(BUFFER_BYTES);

export interface ReaderEvents {
  /** The bytes are only lent. */
  onData: (data: Buffer) => void;
  /** `clean`: every writer has closed it. Called once. */
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

  /** The worker is done with so many bytes. */
  addCredit(bytes: number): void {
    this.#credit += bytes;
    if (!this.#paused || this.#credit <= 0) return;
    this.#paused = false;
    this.#rearm();
    this.#socket.resume();
  }

  /** No process of the tree is left: read what is there, then end. */
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
