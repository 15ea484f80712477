/** Access tokens: who may call the API, and what for. The store has only their hashes. */

export const TOKEN_ROLES = ['viewer', 'submitter', 'operator', 'admin', 'worker'] as const;
export type TokenRole = (typeof TOKEN_ROLES)[number];

/** What a route needs, and what a caller may do. */
export const SCOPES = ['read', 'submit', 'operate', 'admin', 'work'] as const;
export type Scope = (typeof SCOPES)[number];

/** The scopes of each role of a token. */
export const ROLE_SCOPES: Readonly<Record<TokenRole, readonly Scope[]>> = {
  viewer: ['read'],
  submitter: ['read', 'submit'],
  operator: ['read', 'submit', 'operate'],
  admin: SCOPES,
  worker: ['work'],
};

/** Roles whose tokens can be restricted to queues. */
export const QUEUE_ROLES: readonly TokenRole[] = ['submitter', 'worker'];

export interface NewToken {
  /** The caller that the token stands for. Of a name, at most two tokens are valid: see `rotateToken`. */
  name: string;
  role: TokenRole;
  /** The queues to submit to or to claim from; `null`: all. */
  queues: readonly string[] | null;
  hash: string;
  /** `null`: it does not expire. */
  lifeMs: number | null;
  createdBy: string;
}

export interface Token {
  id: number;
  name: string;
  role: TokenRole;
  queues: readonly string[] | null;
  createdAt: number;
  createdBy: string;
  expiresAt: number | null;
  /** When a newer token of the same name was made. */
  replacedAt: number | null;
  revokedAt: number | null;
  /** Within a minute. */
  lastUsedAt: number | null;
}

export interface ValidToken extends Token {
  hash: string;
}

export interface TokenRotation {
  name: string;
  hash: string;
  /** The old token is valid for this long, unless it expires before. */
  overlapMs: number;
  /** The life of the new token; `undefined`: that of the old one. */
  lifeMs: number | null | undefined;
  createdBy: string;
}

/** How long the new token of a rotation lives; `null`: it does not expire. */
export function lifeAfterRotation(old: Token, { lifeMs }: TokenRotation): number | null {
  if (lifeMs !== undefined) return lifeMs;
  return old.expiresAt === null ? null : old.expiresAt - old.createdAt;
}
