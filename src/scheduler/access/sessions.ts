/** Sessions of the dashboard, links that open one, and tickets for downloads. */

import { randomBytes } from 'node:crypto';
import type { Session } from '../../core/session.ts';
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
  openSession(caller: string, signal: AbortSignal): Promise<SessionHalves>;
  /** The caller that a session stands for; `undefined` if it is over, or one half is wrong. */
  sessionCaller(halves: SessionHalves, signal: AbortSignal): Promise<string | undefined>;
  endSession(halves: SessionHalves, signal: AbortSignal): Promise<void>;
  /** Returns a secret that opens one session within `lifeMs`. */
  createLink(caller: string, lifeMs: number, signal: AbortSignal): Promise<string>;
  /** Returns a secret that allows one request, such as `GET /jobs/7/logs`, within a minute. */
  createTicket(caller: string, request: string, signal: AbortSignal): Promise<string>;
  /** The caller of a link that was not used yet. */
  takeLink(text: string, signal: AbortSignal): Promise<string | undefined>;
  /** The caller of a ticket that was not used yet and is for this request. */
  takeTicket(text: string, request: string, signal: AbortSignal): Promise<string | undefined>;
}

export function sessionsOf({ store, clock }: SchedulerContext): Sessions {
  const known = new Map<string, { session: Session; readAt: number }>();
  return {
    async openSession(caller, signal) {
      const halves = { cookie: secret(), key: secret() };
      const session = { hash: hashOf(halves), kind: 'session' as const, caller, request: null };
      await store.createSession({ ...session, lifeMs: SESSION_LIFE_MS }, signal);
      return halves;
    },
    async sessionCaller(halves, signal) {
      const hash = hashOf(halves);
      const now = clock.monotonicMs();
      const cached = known.get(hash);
      if (cached !== undefined && now - cached.readAt <= MAX_AGE_MS) return cached.session.caller;
      known.delete(hash);
      const session = await store.useSession(hash, SESSION_IDLE_MS, signal);
      if (session === undefined) return undefined;
      const [oldest] = known.keys();
      if (known.size >= MAX_KNOWN && oldest !== undefined) known.delete(oldest);
      known.set(hash, { session, readAt: now });
      return session.caller;
    },
    async endSession(halves, signal) {
      const hash = hashOf(halves);
      await store.takeSession(hash, 'session', signal);
      known.delete(hash);
    },
    async createLink(caller, lifeMs, signal) {
      const text = secret();
      await store.createSession({ hash: hashToken(text), kind: 'link', caller, request: null, lifeMs }, signal);
      return text;
    },
    async createTicket(caller, request, signal) {
      const text = secret();
      const ticket = { hash: hashToken(text), kind: 'ticket' as const, caller, request, lifeMs: TICKET_LIFE_MS };
      await store.createSession(ticket, signal);
      return text;
    },
    async takeLink(text, signal) {
      return (await store.takeSession(hashToken(text), 'link', signal))?.caller;
    },
    async takeTicket(text, request, signal) {
      const ticket = await store.takeSession(hashToken(text), 'ticket', signal);
      return ticket?.request === request ? ticket.caller : undefined;
    },
  };
}

function hashOf({ cookie, key }: SessionHalves): string {
  return hashToken(`${cookie}.${key}`);
}

function secret(): string {
  return randomBytes(32).toString('base64url');
}
