/**
 * What worker and launcher say to each other, as bytes: length of the payload (4), kind (1), number of the command (4),
 * payload. Small enough to be the same code on both sides, and output is never copied into JSON.
 */

export const FRAME = {
  /** Worker to launcher. */
  start: 1,
  stop: 2,
  credit: 3,
  deadline: 4,
  /** Launcher to worker. */
  output: 10,
  exit: 11,
} as const;

const HEADER_BYTES = 9;

/** How much output of one command may be on its way to the worker, unanswered. */
export const OUTPUT_WINDOW_BYTES = 128 * 1024;

export interface StartMessage {
  command: string;
  cwd: string | null;
  /** Added to the launcher's own environment. */
  env: Record<string, string>;
  graceMs: number;
  /** Goes on when only the deadline has passed. */
  finish: boolean;
}

export interface StopMessage {
  graceMs: number;
}

/** Durations, so that the two clocks need not agree. */
export interface DeadlineMessage {
  /** From when on all trees are stopped. */
  stopInMs: number;
  /** By when nothing may be left. */
  killInMs: number;
}

export interface ExitMessage {
  exitCode: number | null;
  signal: string | null;
  /** Why it was stopped; `null` where it ended by itself. */
  stopped: 'asked' | 'deadline' | null;
  /** Why it could not be started. */
  startError: string | null;
  /** Processes that would not die. */
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

/** Takes bytes as they come and calls back once per whole frame. The payload is only lent: copy what is to be kept. */
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
