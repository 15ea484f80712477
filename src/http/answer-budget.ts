import { WorkronError } from '../core/error.ts';

/** The bytes of answers to reads that may be in memory at once. */
const MAX_BYTES = 128 * 1024 * 1024;
/** The bytes that a read is counted with until its answer is known. */
const EXPECTED_BYTES = 4 * 1024 * 1024;
/** A read that gets no room for this long is refused. */
const MAX_WAIT_MS = 10_000;

interface Waiting {
  admit(): void;
}

/** Room for one answer, until it is sent. */
export interface AnswerRoom {
  /** Says how large the answer is. */
  resize(bytes: number): void;
  /** Gives the room back. May be called twice. */
  release(): void;
}

/**
 * Bounds the bytes of answers that are being made or sent: a read waits until there is room for its answer, so that readers
 * cannot fill the memory. Requests of workers and probes do not wait here.
 */
export class AnswerBudget {
  readonly #maxBytes: number;
  readonly #maxWaitMs: number;
  readonly #queue = new Set<Waiting>();
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES, maxWaitMs = MAX_WAIT_MS) {
    this.#maxBytes = maxBytes;
    this.#maxWaitMs = maxWaitMs;
  }

  /** Resolves when there is room, in the order of the calls. Throws `overloaded` if that takes too long. */
  async take(signal: AbortSignal): Promise<AnswerRoom> {
    if (!this.#hasRoom() || this.#queue.size > 0) await this.#wait(signal);
    else this.#bytes += EXPECTED_BYTES;
    let held = EXPECTED_BYTES;
    let isOver = false;
    const resize = (bytes: number): void => {
      if (isOver) return;
      this.#bytes += bytes - held;
      held = bytes;
      this.#admit();
    };
    return {
      resize,
      release: () => {
        resize(0);
        isOver = true;
      },
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#queue.delete(waiting);
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      };
      const onAbort = (): void => {
        end();
        reject(signal.reason as Error);
      };
      const waiting: Waiting = {
        admit: () => {
          end();
          this.#bytes += EXPECTED_BYTES;
          resolve();
        },
      };
      const timer = setTimeout(() => {
        end();
        const detail = 'Too many large answers are being read; try again shortly';
        reject(new WorkronError('overloaded', detail, { retryAfterMs: 2_000 }));
      }, this.#maxWaitMs);
      signal.addEventListener('abort', onAbort);
      this.#queue.add(waiting);
      if (signal.aborted) onAbort();
    });
  }

  #hasRoom(): boolean {
    return this.#bytes === 0 || this.#bytes + EXPECTED_BYTES <= this.#maxBytes;
  }

  #admit(): void {
    for (const waiting of this.#queue) {
      if (!this.#hasRoom()) return;
      waiting.admit();
    }
  }
}
