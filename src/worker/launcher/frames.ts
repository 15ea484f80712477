/**
 * The protocol between worker and launcher. A frame is the length of the payload (4 bytes), the kind (1), the number of
 * the command (4) and the payload. Both sides share this code, and output is never encoded as JSON.
 */

import type { ShellExit } from './shell-starter.ts';

export const FRAME = {
  /** From worker to launcher. */
  start: 1,
  stop: 2,
  credit: 3,
  deadline: 4,
  gone: 5,
  /** From launcher to worker. */
  output: 10,
  exit: 11,
  /** From the starter of another user's shells to the launcher. The launcher sends it `start`. */
  started: 20,
  refused: 21,
  ended: 22,
} as const;

const HEADER_BYTES = 9;

/** How much output of one command may be sent to the worker before it is credited. */
export const OUTPUT_WINDOW_BYTES = 128 * 1024;

export interface StartMessage {
  command: string;
  cwd: string | null;
  /** Added to the launcher's own environment. */
  env: Record<string, string>;
  graceMs: number;
  /** True if the command may run on after the deadline. */
  finish: boolean;
}

export interface StopMessage {
  graceMs: number;
}

/** Durations, so that the clocks of the two sides need not agree. */
export interface DeadlineMessage {
  /** When to begin stopping all trees. */
  stopInMs: number;
  /** When nothing may be left. */
  killInMs: number;
}

/**
 * The request that a launcher sends if its worker ends without leaving: to the first of these addresses that takes it.
 * `null`: none. Its token allows this request only: commands may be able to read the launcher's memory. For the same reason
 * it is not passed by environment or arguments.
 */
export type GoneMessage = {
  urls: readonly string[];
  headers: Readonly<Record<string, string>>;
  /** The only authorities whose certificates are trusted, in PEM; `null`: the public ones. */
  ca: string | null;
} | null;

export interface ExitMessage extends ShellExit {
  /** Why it was stopped; `null` if it ended by itself. `launcher`: the process that started it died, by `signal` if it was killed. */
  stopped: 'asked' | 'deadline' | 'launcher' | null;
  /** Why it could not be started; `null` if it was. */
  startError: string | null;
  /** The number of processes that could not be killed. */
  left: number;
}

export function encodeFrame(kind: number, id: number, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  frame.writeUInt32LE(payload.length, 0);
  frame.writeUInt8(kind, 4);
  frame.writeUInt32LE(id, 5);
  frame.set(payload, HEADER_BYTES);
  return frame;
}

export function encodeMessage(kind: number, id: number, message: unknown): Buffer {
  return encodeFrame(kind, id, Buffer.from(JSON.stringify(message)));
}

/** Collects bytes and calls back once per complete frame. The payload is valid only during the call. */
export class FrameReader {
  readonly #onFrame: (kind: number, id: number, payload: Buffer) => void;
  #rest: Buffer[] = [];
  #restBytes = 0;
  #needed = HEADER_BYTES;

  constructor(onFrame: (kind: number, id: number, payload: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  push(chunk: Buffer): void {
    this.#rest.push(chunk);
    this.#restBytes += chunk.length;
    if (this.#restBytes < this.#needed) return;
    const bytes = this.#rest.length === 1 ? chunk : Buffer.concat(this.#rest);
    let at = 0;
    this.#needed = HEADER_BYTES;
    while (bytes.length - at >= HEADER_BYTES) {
      const end = at + HEADER_BYTES + bytes.readUInt32LE(at);
      if (bytes.length < end) {
        this.#needed = end - at;
        break;
      }
      this.#onFrame(bytes.readUInt8(at + 4), bytes.readUInt32LE(at + 5), bytes.subarray(at + HEADER_BYTES, end));
      at = end;
    }
    this.#rest = at < bytes.length ? [bytes.subarray(at)] : [];
    this.#restBytes = bytes.length - at;
  }
}
