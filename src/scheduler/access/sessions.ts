/** Sessions of the dashboard, links that open one, and tickets for downloads. */

import { randomBytes } from 'node:crypto';
import type { Session, SessionOwner } from '../../core/session.ts';
import { hashToken } from '../../ops/token-text.ts';
import type { SchedulerContext } from '../context.ts';

const DAY_MS = 86_400_000;
/** A session ends after this time, and earlier if it is not used for a day. */
export const SESSION_LIFE_MS = 7 * DAY_MS;
export const SESSION_IDLE_MS = DAY_MS;
const TICKET_LIFE_MS = 60_000;
/** How long another scheduler may accept a session that was ended. */
const MAX_AGE_MS = 2_000;
const MAX_KNOWN = 10_000;

/** The halves of a session: a cookie, which browsers share between the ports of a host, and a key, which they do not. */
export interface SessionHalves {
  cookie: string;
  key: string;
}

export interface Sessions {
  /** The key begins with `name` and a dot. */
  openSession(owner: SessionOwner, name: string, signal: AbortSignal): Promise<SessionHalves>;
  /** Returns a session; `undefined` if it is over, or one half is wrong. */
  sessionOf(halves: SessionHalves, signal: AbortSignal): Promise<Session | undefined>;
  /** Whether the session with this hash is not over. */
  isOpenSession(hash: string, signal: AbortSignal): Promise<boolean>;
  endSession(halves: SessionHalves, signal: AbortSignal): Promise<void>;
  /** Returns a secret that opens one session within `lifeMs`. */
  createLink(owner: SessionOwner, lifeMs: number, signal: AbortSignal): Promise<string>;
  /** Returns a secret that allows one request, such as `GET /jobs/7/logs`, within a minute. */
  createTicket(owner: SessionOwner, request: string, signal: AbortSignal): Promise<string>;
  /** Uses up a link that was not used yet, and returns it. */
  takeLink(text: string, signal: AbortSignal): Promise<Session | undefined>;
  /** Uses up a ticket that was not used yet, and returns it if it is for this request. */
  takeTicket(text: string, request: string, signal: AbortSignal): Promise<Session | undefined>;
}

export function sessionsOf({ store, clock }: SchedulerContext): Sessions {
  const known = new Map<string, { session: Session; readAt: number }>();
  let ended = 0;

  async function readSession(hash: string, signal: AbortSignal): Promise<Session | undefined> {
    const now = clock.monotonicMs();
    const cached = known.get(hash);
    if (cached !== undefined && now - cached.readAt <= MAX_AGE_MS) return cached.session;
    known.delete(hash);
    const endedBefore = ended;
    const session = await store.useSession(hash, SESSION_IDLE_MS, signal);
    // One that ended while it was read is not kept.
    if (session === undefined || ended !== endedBefore) return session;
    const [oldest] = known.keys();
    if (known.size >= MAX_KNOWN && oldest !== undefined) known.delete(oldest);
    known.set(hash, { session, readAt: now });
    return session;
  }

  return {
    async openSession(owner, name, signal) {
      const halves = { cookie: secret(), key: `${name}.${secret()}` };
      const session = { ...owner, hash: hashOf(halves), kind: 'session' as const, request: null };
      await store.createSession({ ...session, lifeMs: SESSION_LIFE_MS }, signal);
      return halves;
    },
    sessionOf: (halves, signal) => readSession(hashOf(halves), signal),
    isOpenSession: async (hash, signal) => (await readSession(hash, signal)) !== undefined,
    async endSession(halves, signal) {
      const hash = hashOf(halves);
      await store.takeSession(hash, 'session', signal);
      ended += 1;
      known.delete(hash);
    },
    async createLink(owner, lifeMs, signal) {
      const text = secret();
      await store.createSession({ ...owner, hash: hashToken(text), kind: 'link', request: null, lifeMs }, signal);
      return text;
    },
    async createTicket(owner, request, signal) {
      const text = secret();
      const ticket = { ...owner, hash: hashToken(text), kind: 'ticket' as const, request, lifeMs: TICKET_LIFE_MS };
      await store.createSession(ticket, signal);
      return text;
    },
    takeLink: (text, signal) => store.takeSession(hashToken(text), 'link', signal),
    async takeTicket(text, request, signal) {
      const ticket = await store.takeSession(hashToken(text), 'ticket', signal);
      return ticket?.request === request ? ticket : undefined;
    },
  };
}

function hashOf({ cookie, key }: SessionHalves): string {
  return hashToken(`${cookie}.${key}`);
}

function secret(): string {
  return randomBytes(32).toString('base64url');
}
