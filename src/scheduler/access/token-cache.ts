/**
 * The valid tokens, so that a request does not ask the store for its own. They are read again after a short time, which bounds
 * how long a revoked token is accepted by other schedulers, and for each token that is not among them: so a new one
 * works at once. Reads for many callers are shared, so callers with wrong tokens cause at most one read at a time.
 */

import type { Clock } from '../../core/clock.ts';
import type { ValidToken } from '../../core/token.ts';
import type { Log } from '../../ops/log.ts';
import type { Store } from '../../store/store.ts';

const MAX_AGE_MS = 2_000;
const READ_TIMEOUT_MS = 5_000;
/** A use is written at most this often. */
const TOUCH_EVERY_MS = 60_000;

interface TokenCacheOptions {
  store: Store;
  clock: Clock;
  log: Log;
}

export class TokenCache {
  readonly #options: TokenCacheOptions;
  #tokens: readonly ValidToken[] = [];
  #byHash = new Map<string, ValidToken>();
  #readAt = Number.NEGATIVE_INFINITY;
  #forgotten = 0;
  #reading: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  readonly #touchedAt = new Map<number, number>();

  constructor(options: TokenCacheOptions) {
    this.#options = options;
  }

  /** Returns the valid token with this hash. Rejects if it is not known and the store does not answer. */
  byHash(hash: string): Promise<ValidToken | undefined> {
    return this.#find(() => this.#byHash.get(hash));
  }

  /** Returns the valid token whose hash begins so. */
  byStartOfHash(start: string): Promise<ValidToken | undefined> {
    return this.#find(() => this.#tokens.find(({ hash }) => hash.startsWith(start)));
  }

  byId(id: number): Promise<ValidToken | undefined> {
    return this.#find(() => this.#tokens.find((token) => token.id === id));
  }

  /** The next request reads the tokens again. A read that is in flight may not know yet what has changed. */
  forget(): void {
    this.#forgotten += 1;
    this.#readAt = Number.NEGATIVE_INFINITY;
  }

  async #find(find: () => ValidToken | undefined): Promise<ValidToken | undefined> {
    const isFresh = this.#options.clock.monotonicMs() - this.#readAt <= MAX_AGE_MS;
    let found = isFresh ? find() : undefined;
    if (found === undefined) {
      await this.#readAfterNow();
      found = find();
    }
    if (found !== undefined) this.#touch(found.id);
    return found;
  }

  /** Resolves after a read that began after this call. */
  #readAfterNow(): Promise<void> {
    this.#next ??= this.#reading.then(() => {
      this.#next = undefined;
      const read = this.#read();
      this.#reading = read.catch(() => undefined);
      return read;
    });
    return this.#next;
  }

  async #read(): Promise<void> {
    const { store, clock } = this.#options;
    const [startedAt, forgotten] = [clock.monotonicMs(), this.#forgotten];
    this.#tokens = await store.validTokens(AbortSignal.timeout(READ_TIMEOUT_MS));
    this.#byHash = new Map(this.#tokens.map((token) => [token.hash, token]));
    if (forgotten === this.#forgotten) this.#readAt = startedAt;
  }

  #touch(id: number): void {
    const { store, clock, log } = this.#options;
    const now = clock.monotonicMs();
    if (now - (this.#touchedAt.get(id) ?? Number.NEGATIVE_INFINITY) < TOUCH_EVERY_MS) return;
    this.#touchedAt.set(id, now);
    store.touchTokens([id], AbortSignal.timeout(READ_TIMEOUT_MS)).catch((error: unknown) => {
      log.debug({ error }, 'the use of a token was not noted');
    });
  }
}
