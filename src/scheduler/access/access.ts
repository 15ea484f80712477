/** Who may call the API: tokens, and the workers that were registered with them. */

import { WorkronError } from '../../core/error.ts';
import type { NewToken, Token, TokenRotation, ValidToken } from '../../core/token.ts';
import { hashToken, newTokenText } from '../../ops/token-text.ts';
import type { AccessStore } from '../../store/access-store.ts';
import type { SchedulerContext } from '../context.ts';
import { type Decisions, decisionsOf } from './decide.ts';
import { TokenCache } from './token-cache.ts';

/** A token as it is returned once, when it is made. */
export interface MadeToken extends Token {
  text: string;
}

export interface Access extends Decisions {
  /** Throws `token_exists` if the name has a valid token. */
  createToken(token: Omit<NewToken, 'hash'>, signal: AbortSignal): Promise<MadeToken>;
  /** Throws `token_not_found` if the name has no valid token. */
  rotateToken(rotation: Omit<TokenRotation, 'hash'>, signal: AbortSignal): Promise<MadeToken>;
  /** Throws `token_not_found` if the name has no valid token. */
  revokeToken(name: string, signal: AbortSignal): Promise<number>;
  tokens(signal: AbortSignal): Promise<Token[]>;
  validToken(text: string): Promise<ValidToken | undefined>;
  validTokenById(id: number): Promise<ValidToken | undefined>;
  /** The valid token whose hash begins so. */
  validTokenByHash(start: string): Promise<ValidToken | undefined>;
  audit: AccessStore['audit'];
  /** Who registered a worker: `null` if it is not a caller of the API; `undefined` if there is no such worker. */
  registrantOf(workerId: number, signal: AbortSignal): Promise<string | null | undefined>;
}

/** A worker's row never changes hands, so what was read once stays true. */
const MAX_KNOWN_WORKERS = 10_000;

export function accessOf({ store, clock, log }: SchedulerContext): Access {
  const cache = new TokenCache({ store, clock, log });
  const registrants = new Map<number, string | null>();
  return {
    ...decisionsOf({ store, log }),
    async createToken(token, signal) {
      const text = newTokenText();
      const made = await store.createToken({ ...token, hash: hashToken(text) }, signal);
      if (made === undefined) {
        throw new WorkronError('token_exists', `There is a valid token ${token.name}: rotate or revoke it first`);
      }
      cache.forget();
      return { ...made, text };
    },
    async rotateToken(rotation, signal) {
      const text = newTokenText();
      const made = await store.rotateToken({ ...rotation, hash: hashToken(text) }, signal);
      if (made === undefined) throw noToken(rotation.name);
      cache.forget();
      return { ...made, text };
    },
    async revokeToken(name, signal) {
      const count = await store.revokeToken(name, signal);
      cache.forget();
      if (count === 0) throw noToken(name);
      return count;
    },
    audit: (filter, page, signal) => store.audit(filter, page, signal),
    tokens: (signal) => store.tokens(signal),
    validToken: (text) => cache.byHash(hashToken(text)),
    validTokenById: (id) => cache.byId(id),
    validTokenByHash: (start) => cache.byStartOfHash(start),
    async registrantOf(workerId, signal) {
      const known = registrants.get(workerId);
      if (known !== undefined) return known;
      const worker = await store.worker(workerId, signal);
      if (worker === undefined) return undefined;
      const [oldest] = registrants.keys();
      if (registrants.size >= MAX_KNOWN_WORKERS && oldest !== undefined) registrants.delete(oldest);
      registrants.set(workerId, worker.registeredBy);
      return worker.registeredBy;
    },
  };
}

function noToken(name: string): WorkronError {
  return new WorkronError('token_not_found', `No valid token ${JSON.stringify(name)}`);
}
