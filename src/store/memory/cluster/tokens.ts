import {
  expiryAfterRotation,
  isValidToken,
  type NewToken,
  type Token,
  type TokenRotation,
  type ValidToken,
} from '../../../core/token.ts';
import type { Tables } from '../base/tables.ts';

export function createToken(tables: Tables, token: NewToken): Token | undefined {
  const now = tables.clock.now();
  if (current(tables, token.name) !== undefined) return undefined;
  for (const row of tables.tokens.values()) {
    if (row.name === token.name && row.replacedAt === null) row.revokedAt ??= row.expiresAt;
  }
  const { lifeMs, ...rest } = token;
  return add(tables, { ...rest, expiresAt: lifeMs === null ? null : now + lifeMs });
}

export function rotateToken(tables: Tables, rotation: TokenRotation): Token | undefined {
  const now = tables.clock.now();
  const old = current(tables, rotation.name);
  if (old === undefined) return undefined;
  for (const row of valid(tables, rotation.name)) if (row !== old) row.revokedAt = now;
  const { name, role, queues } = old;
  const { hash, createdBy } = rotation;
  const made = add(tables, {
    name,
    role,
    queues,
    hash,
    createdBy,
    expiresAt: expiryAfterRotation(old, rotation, now),
  });
  const until = now + rotation.overlapMs;
  Object.assign(old, { replacedAt: now, expiresAt: Math.min(old.expiresAt ?? until, until) });
  return made;
}

export function revokeToken(tables: Tables, name: string): number {
  const rows = valid(tables, name);
  for (const row of rows) row.revokedAt = tables.clock.now();
  return rows.length;
}

export function tokens(tables: Tables): Token[] {
  return inOrder(tables).map(shown);
}

export function validTokens(tables: Tables): ValidToken[] {
  return inOrder(tables)
    .filter((row) => isValidToken(row, tables.clock.now()))
    .map((row) => structuredClone(row));
}

export function touchTokens(tables: Tables, ids: readonly number[]): void {
  for (const id of ids) {
    const row = tables.tokens.get(id);
    if (row !== undefined) row.lastUsedAt = tables.clock.now();
  }
}

export function pruneTokens(tables: Tables, keepMs: number): number {
  const before = tables.clock.now() - keepMs;
  const old = [...tables.tokens.values()].filter((row) => endOf(row) <= before);
  for (const { id } of old) tables.tokens.delete(id);
  return old.length;
}

function endOf({ revokedAt, expiresAt }: Token): number {
  return Math.min(revokedAt ?? Number.POSITIVE_INFINITY, expiresAt ?? Number.POSITIVE_INFINITY);
}

function add(
  tables: Tables,
  token: Pick<ValidToken, 'name' | 'role' | 'queues' | 'hash' | 'createdBy' | 'expiresAt'>,
): Token {
  const row: ValidToken = {
    ...structuredClone(token),
    id: (tables.lastId.token += 1),
    createdAt: tables.clock.now(),
    replacedAt: null,
    revokedAt: null,
    lastUsedAt: null,
  };
  tables.tokens.set(row.id, row);
  return shown(row);
}

function valid(tables: Tables, name: string): ValidToken[] {
  const now = tables.clock.now();
  return [...tables.tokens.values()].filter((row) => row.name === name && isValidToken(row, now));
}

function current(tables: Tables, name: string): ValidToken | undefined {
  return valid(tables, name).find(({ replacedAt }) => replacedAt === null);
}

function inOrder(tables: Tables): ValidToken[] {
  const byName = (a: Token, b: Token) => (a.name === b.name ? b.id - a.id : a.name < b.name ? -1 : 1);
  return [...tables.tokens.values()].sort(byName);
}

function shown({ hash: _hash, ...token }: ValidToken): Token {
  return structuredClone(token);
}
