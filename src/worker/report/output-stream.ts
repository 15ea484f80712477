/** The output of one attempt on its way to the source: the bytes to be sent, their offset, and the tail. */

import type { MaskStream } from '../../core/mask.ts';
import type { LogChunk } from '../../core/output.ts';
import { cleanText } from '../../core/text.ts';
import type { Assignment } from '../run/assignment.ts';
import { maskOf } from './mask-job.ts';

const CHUNK_BYTES = 64 * 1024;
const FIRST_BYTES = 4 * 1024;
const TAIL_BYTES = 2 * 1024;

interface StreamEvents {
  /** Called when there is enough to send, or enough time has passed. */
  onDue: (stream: OutputStream) => void;
  /** Called when this many bytes were written or given up, so that the writer need not wait for them. */
  onTaken: (bytes: number) => void;
}

/** Buffers a bounded number of bytes, provided that the writer waits for `onTaken`. */
export class OutputStream {
  readonly assignment: Assignment;
  /** The chunk that was sent but not answered yet. */
  inFlight: LogChunk | undefined;
  /** When sending began to fail, by the monotonic clock. */
  failingSince: number | undefined;
  /** True if it is in the writer's list. */
  queued = false;
  readonly #events: StreamEvents;
  readonly #flushMs: number;
  #waiting = Buffer.alloc(0);
  #length = 0;
  #offset = 0;
  #tail = Buffer.alloc(0);
  #tailCut = false;
  #timer: NodeJS.Timeout | undefined;
  #givenUp = false;
  /** Calls that wait until the bytes up to an offset were written. */
  #flushes: { upTo: number; done: () => void }[] = [];
  readonly #mask: MaskStream | null;
  /** Bytes that masking has removed or holds back, and that were not yet reported as taken. */
  #shorter = 0;

  constructor(assignment: Assignment, flushMs: number, events: StreamEvents) {
    this.assignment = assignment;
    this.#flushMs = flushMs;
    this.#events = events;
    this.#mask = maskOf(assignment.job);
  }

  /** Copies the bytes. Values of secrets are masked. */
  push(data: Uint8Array): void {
    if (this.#mask === null) return this.#add(data);
    const masked = this.#mask.push(Buffer.from(data.buffer, data.byteOffset, data.length));
    this.#shorter += data.length - masked.length;
    if (this.#shorter > 0) {
      this.#events.onTaken(this.#shorter);
      this.#shorter = 0;
    }
    if (masked.length > 0) this.#add(masked);
  }

  #add(data: Uint8Array): void {
    this.#keepTail(data);
    if (this.#givenUp) return this.#events.onTaken(data.length);
    const needed = this.#length + data.length;
    if (needed > this.#waiting.length) this.#grow(needed);
    this.#waiting.set(data, this.#length);
    this.#length = needed;
    if (this.#length >= CHUNK_BYTES) this.#due();
    else this.#timer ??= setTimeout(() => this.#due(), this.#flushMs);
  }

  /** Resolves once everything was written or given up. */
  end(): Promise<void> {
    const held = this.#mask?.end();
    if (held !== undefined && held.length > 0) this.#add(held);
    return this.flush();
  }

  /** Resolves once all bytes so far were written or given up, except those that masking holds back. */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#length === 0 && this.inFlight === undefined) return resolve();
      this.#flushes.push({ upTo: this.#offset + this.#length, done: resolve });
      if (this.#length > 0) this.#due();
    });
  }

  /** The chunk to send: the one that failed, or the next one. */
  take(): LogChunk | undefined {
    this.#stopTimer();
    if (this.inFlight !== undefined || this.#length === 0) return this.inFlight;
    const size = Math.min(this.#length, CHUNK_BYTES);
    const { jobId, attempt, workerId } = this.assignment;
    const data = Buffer.from(this.#waiting.subarray(0, size));
    this.inFlight = { jobId, attempt, workerId, offset: this.#offset, data };
    this.#waiting.copyWithin(0, size, this.#length);
    this.#length -= size;
    this.#offset += size;
    // An idle command holds no buffer.
    if (this.#length === 0) this.#waiting = Buffer.alloc(0);
    return this.inFlight;
  }

  /** Records that the chunk in flight was written. */
  written(): void {
    const size = this.inFlight?.data.length ?? 0;
    this.inFlight = undefined;
    this.failingSince = undefined;
    this.#events.onTaken(size);
    this.#endFlushes(this.#offset);
    if (this.#length >= CHUNK_BYTES || this.#flushes.length > 0) this.#due();
    else if (this.#length > 0) this.#timer ??= setTimeout(() => this.#due(), this.#flushMs);
  }

  /** Drops all output from now on. It still counts as taken, so that the command does not wait. */
  giveUp(): void {
    if (this.#givenUp) return;
    this.#givenUp = true;
    const dropped = this.#length + (this.inFlight?.data.length ?? 0);
    this.inFlight = undefined;
    this.#length = 0;
    this.#waiting = Buffer.alloc(0);
    this.#stopTimer();
    this.#events.onTaken(dropped);
    this.#endFlushes(Number.POSITIVE_INFINITY);
  }

  /** The last 2 KiB, as text that every store can hold. */
  tail(): string {
    let start = 0;
    // Leaves out a character that was cut in two.
    while (this.#tailCut && start < 4 && ((this.#tail[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return cleanText(this.#tail.toString('utf8', start));
  }

  #keepTail(data: Uint8Array): void {
    if (data.length + this.#tail.length > TAIL_BYTES) this.#tailCut = true;
    const kept = this.#tail.subarray(Math.max(0, this.#tail.length + data.length - TAIL_BYTES));
    this.#tail = Buffer.concat([kept, data.subarray(Math.max(0, data.length - TAIL_BYTES))]);
  }

  #grow(needed: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, 2 ** Math.ceil(Math.log2(needed))));
    this.#waiting.copy(grown, 0, 0, this.#length);
    this.#waiting = grown;
  }

  #due(): void {
    this.#stopTimer();
    if (this.inFlight === undefined) this.#events.onDue(this);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #endFlushes(upTo: number): void {
    const reached = this.#flushes.filter((flush) => flush.upTo <= upTo);
    if (reached.length === 0) return;
    this.#flushes = this.#flushes.filter((flush) => flush.upTo > upTo);
    for (const { done } of reached) done();
  }
}
