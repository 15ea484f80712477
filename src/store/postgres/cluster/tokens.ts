import {
  expiryAfterRotation,
  type NewToken,
  type Token,
  type TokenRotation,
  type ValidToken,
} from '../../../core/token.ts';
import { type TokenColumns, tokenFrom } from '../../token-columns.ts';
import type { Context } from '../base/context.ts';

type Row = TokenColumns<readonly string[] | null> & { hash: string };

export function createToken(
  { database, sql }: Context,
  { name, role, queues, hash, lifeMs, createdBy }: NewToken,
  signal: AbortSignal,
): Promise<Token | undefined> {
  return database.transaction(signal, async (session) => {
    await session.query(sql.lockTokens, []);
    await session.query(sql.retireToken, [name]);
    const [row] = await session.query<Row>(sql.insertToken, [name, role, queues, hash, createdBy, lifeMs]);
    return row === undefined ? undefined : tokenFrom(row);
  });
}

export function rotateToken(
  { database, sql }: Context,
  rotation: TokenRotation,
  signal: AbortSignal,
): Promise<Token | undefined> {
  const { name, hash, overlapMs, createdBy } = rotation;
  return database.transaction(signal, async (session) => {
    await session.query(sql.lockTokens, []);
    const [old] = await session.query<Row & { now: number }>(sql.currentToken, [name]);
    if (old === undefined) return undefined;
    await session.query(sql.revokeTokens, [name, old.id]);
    await session.query(sql.replaceToken, [old.id, overlapMs]);
    const expiresAt = expiryAfterRotation(tokenFrom(old), rotation, old.now);
    const lifeMs = expiresAt === null ? null : expiresAt - old.now;
    const [row] = await session.query<Row>(sql.insertToken, [name, old.role, old.queues, hash, createdBy, lifeMs]);
    return tokenFrom(row as Row);
  });
}

export async function revokeToken({ database, sql }: Context, name: string, signal: AbortSignal): Promise<number> {
  const rows = await database.transaction(signal, (session) => session.query(sql.revokeTokens, [name, 0]));
  return rows.length;
}

export async function tokens({ database, sql }: Context, signal: AbortSignal): Promise<Token[]> {
  return (await database.query<Row>(sql.tokens, [], signal)).map(tokenFrom);
}

export async function validTokens({ database, sql }: Context, signal: AbortSignal): Promise<ValidToken[]> {
  const rows = await database.query<Row>(sql.validTokens, [], signal);
  return rows.map((row) => ({ ...tokenFrom(row), hash: row.hash }));
}

export async function touchTokens(
  { database, sql }: Context,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  await database.query(sql.touchTokens, [ids], signal);
}

export async function pruneTokens({ database, sql }: Context, keepMs: number, signal: AbortSignal): Promise<number> {
  const rows = await database.transaction(signal, (session) => session.query(sql.pruneTokens, [keepMs]));
  return rows.length;
}
