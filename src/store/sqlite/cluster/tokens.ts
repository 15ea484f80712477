import {
  expiryAfterRotation,
  type NewToken,
  type Token,
  type TokenRotation,
  type ValidToken,
} from '../../../core/token.ts';
import { type TokenColumns, tokenFrom } from '../../token-columns.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

type Row = TokenColumns<string | null> & { hash: string };

export function createToken({ database, now }: Context, token: NewToken): Token | undefined {
  const { name, role, queues, hash, lifeMs, createdBy } = token;
  database.run(sql.retireToken, name, now);
  const expiresAt = lifeMs === null ? null : now + lifeMs;
  const values = [name, role, queues === null ? null : JSON.stringify(queues), hash, now, createdBy, expiresAt];
  const row = database.get<Row>(sql.insertToken, ...values);
  return row === undefined ? undefined : decode(row);
}

export function rotateToken({ database, now }: Context, rotation: TokenRotation): Token | undefined {
  const { name, hash, overlapMs, createdBy } = rotation;
  const row = database.get<Row>(sql.currentToken, name, now);
  if (row === undefined) return undefined;
  database.run(sql.revokeTokens, name, now, row.id);
  database.run(sql.replaceToken, row.id, now, now + overlapMs);
  const expiresAt = expiryAfterRotation(decode(row), rotation, now);
  const values = [name, row.role, row.queues, hash, now, createdBy, expiresAt];
  return decode(database.get<Row>(sql.insertToken, ...values) as Row);
}

export function revokeToken({ database, now }: Context, name: string): number {
  return database.run(sql.revokeTokens, name, now, 0);
}

export function tokens({ database }: Context): Token[] {
  return database.all<Row>(sql.tokens).map(decode);
}

export function validTokens({ database, now }: Context): ValidToken[] {
  return database.all<Row>(sql.validTokens, now).map((row) => ({ ...decode(row), hash: row.hash }));
}

export function touchTokens({ database, now }: Context, ids: readonly number[]): void {
  database.run(sql.touchTokens, JSON.stringify(ids), now);
}

export function pruneTokens({ database, now }: Context, keepMs: number): number {
  return database.run(sql.pruneTokens, now - keepMs);
}

function decode(row: Row): Token {
  return tokenFrom({ ...row, queues: row.queues === null ? null : (JSON.parse(row.queues) as string[]) });
}
