/**
 * Sessions of the dashboard, and what is used once instead of one: a link that opens a session, and a ticket for a download. The
 * store has only hashes.
 */

export type SessionKind = 'session' | 'link' | 'ticket';

/** Whom a session, link or ticket stands for, and with what it ends. */
export interface SessionOwner {
  /** The token that it was made with, by its row: another token of the same name is not meant. `null`: the configured one. */
  tokenId: number | null;
  /** The fingerprint of the configured token; `null` for a token of the store. */
  configured: string | null;
  /** The hash of the session that made a ticket; `null` for what was made with a token or a link. */
  parent: string | null;
}

export interface NewSession extends SessionOwner {
  hash: string;
  kind: SessionKind;
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
