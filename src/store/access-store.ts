/** Tokens of the API, sessions of the dashboard, and the audit. */

import type { AuditEnd, AuditEntry, AuditFilter, NewAuditEntry } from '../core/audit.ts';
import type { NewSession, Session, SessionKind } from '../core/session.ts';
import type { NewToken, Token, TokenRotation, ValidToken } from '../core/token.ts';

export interface AccessStore {
  /** Returns `undefined` if the name has a valid token. */
  createToken(token: NewToken, signal: AbortSignal): Promise<Token | undefined>;

  /**
   * Makes another token with the name, role and queues of a valid one, which stays valid for a while. One that an earlier
   * rotation left valid is revoked. Returns `undefined` if the name has no valid token.
   */
  rotateToken(rotation: TokenRotation, signal: AbortSignal): Promise<Token | undefined>;

  /** Revokes the valid tokens of a name and returns their number. */
  revokeToken(name: string, signal: AbortSignal): Promise<number>;

  /** Returns all tokens, by name; of a name, the newest first. */
  tokens(signal: AbortSignal): Promise<Token[]>;

  /** Returns the tokens that are valid now, in the same order. */
  validTokens(signal: AbortSignal): Promise<ValidToken[]>;

  /** Notes that tokens were used now. */
  touchTokens(ids: readonly number[], signal: AbortSignal): Promise<void>;

  /** Deletes tokens that have not been valid for `keepMs`. Returns their number. */
  pruneTokens(keepMs: number, signal: AbortSignal): Promise<number>;

  /** What is made here is valid until it expires, and only while its token is valid and its parent has not ended. */
  createSession(session: NewSession, signal: AbortSignal): Promise<void>;

  /** Returns a session that is valid and was used within `idleMs`, and notes that it is used now. */
  useSession(hash: string, idleMs: number, signal: AbortSignal): Promise<Session | undefined>;

  /** Deletes a session, link or ticket and returns it, if it is valid. Of two callers, one gets it. */
  takeSession(hash: string, kind: SessionKind, signal: AbortSignal): Promise<Session | undefined>;

  /** Deletes what has expired or whose token has ended, and sessions that were not used within `idleMs`. Returns their number. */
  pruneSessions(idleMs: number, signal: AbortSignal): Promise<number>;

  /** Returns the ids of the entries, in order. */
  addAudit(entries: readonly NewAuditEntry[], signal: AbortSignal): Promise<number[]>;

  /** Writes the result of those entries that have none. */
  endAudit(ids: readonly number[], end: AuditEnd, signal: AbortSignal): Promise<void>;

  /** Returns entries that match, newest first: those with an id below `before`, all if that is `null`. */
  audit(
    filter: AuditFilter,
    page: { before: number | null; limit: number },
    signal: AbortSignal,
  ): Promise<AuditEntry[]>;

  /** Returns the entries about one of these subjects, newest first. */
  auditOf(subjects: readonly string[], limit: number, signal: AbortSignal): Promise<AuditEntry[]>;

  /** Deletes up to `limit` entries older than `keepMs`, and returns their number. */
  pruneAudit(keepMs: number, limit: number, signal: AbortSignal): Promise<number>;
}
