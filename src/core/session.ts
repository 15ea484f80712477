/**
 * Sessions of the dashboard, and what is used once instead of one: a link that opens a session, and a ticket for a download. The
 * store has only hashes.
 */

export type SessionKind = 'session' | 'link' | 'ticket';

export interface NewSession {
  hash: string;
  kind: SessionKind;
  /** The caller that it stands for. */
  caller: string;
  /** The request that a ticket is for; `null` for all others. */
  request: string | null;
  /** It ends after this time, whatever it is used for. */
  lifeMs: number;
}

export interface Session extends Omit<NewSession, 'lifeMs'> {
  createdAt: number;
  /** To the minute. */
  seenAt: number;
  expiresAt: number;
}

/** The time after which a use is written down again. */
export const SEEN_EVERY_MS = 60_000;
