/** The columns of a token, as both databases have them. */

import type { Token, TokenRole } from '../core/token.ts';

export interface TokenColumns<Queues> {
  id: number;
  name: string;
  role: TokenRole;
  queues: Queues;
  created_at: number;
  created_by: string;
  expires_at: number | null;
  replaced_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
}

export function tokenFrom(row: TokenColumns<readonly string[] | null>): Token {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    queues: row.queues,
    createdAt: row.created_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at,
    replacedAt: row.replaced_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}
