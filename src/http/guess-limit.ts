/** Limits the wrong tokens of an address. A valid token or session is accepted whatever others at its address have sent. */

import { WorkronError } from '../core/error.ts';

/** Wrong tokens that an address may send at once. */
const BURST = 20;
/** Each wrong token is forgotten after this time. */
const FORGET_MS = 1_000;
/** Beyond this number, the address that has been silent for the longest time is forgotten. */
const MAX_ADDRESSES = 10_000;

export class GuessLimit {
  readonly #burst: number;
  /** By address: when all its wrong tokens will be forgotten. */
  readonly #forgottenAt = new Map<string, number>();

  constructor(burst: number = BURST) {
    this.#burst = burst;
  }

  /** Counts a wrong token. Throws `too_many_requests` if there were too many before. */
  count(address: string, now: number): void {
    const since = Math.max(now, this.#forgottenAt.get(address) ?? now);
    const waitMs = since - now - (this.#burst - 1) * FORGET_MS;
    if (waitMs > 0) {
      throw new WorkronError('too_many_requests', 'Too many wrong tokens came from this address', {
        retryAfterMs: waitMs,
      });
    }
    this.#forgottenAt.delete(address);
    const [first] = this.#forgottenAt.keys();
    if (this.#forgottenAt.size >= MAX_ADDRESSES && first !== undefined) this.#forgottenAt.delete(first);
    this.#forgottenAt.set(address, since + FORGET_MS);
  }
}
