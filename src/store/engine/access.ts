/** Tokens of the API, sessions of the dashboard, sealed secrets, and the audit. */

import type { AuditEnd, AuditEntry, AuditFilter, NewAuditEntry } from '../../core/audit.ts';
import type { SealedSecret, StoredSecret } from '../../core/secret.ts';
import { type NewSession, SEEN_EVERY_MS, type Session, type SessionKind } from '../../core/session.ts';
import { lifeAfterRotation, type NewToken, type Token, type TokenRotation, type ValidToken } from '../../core/token.ts';
import { columns } from '../sql/columns.ts';
import { after, allOf, anyFrom, anyOf, at, contains, now, sql } from '../sql/sql.ts';
import { many, one, type Tx } from '../sql/tx.ts';

const token = columns<Token>({
  id: 'int',
  name: 'text',
  role: 'text',
  queues: 'json',
  createdAt: 'instant',
  createdBy: 'text',
  expiresAt: 'instant',
  replacedAt: 'instant',
  revokedAt: 'instant',
  lastUsedAt: 'instant',
});
const validToken = token.with<ValidToken>({ hash: 'text' });
const isCurrent = sql`replaced_at is null and revoked_at is null`;
const isValid = sql`revoked_at is null and (expires_at is null or expires_at > ${now})`;

async function createToken(tx: Tx, { lifeMs, ...made }: NewToken): Promise<Token | undefined> {
  await tx.lockTable('token');
  await tx.run(
    sql`update token set revoked_at = expires_at where name = ${made.name} and ${isCurrent} and expires_at <= ${now}`,
  );
  return insertToken(tx, made, lifeMs);
}

async function rotateToken(tx: Tx, rotation: TokenRotation): Promise<Token | undefined> {
  const { name, hash, overlapMs, createdBy } = rotation;
  await tx.lockTable('token');
  const old = await tx.get(token, sql`select ${token} from token where name = ${name} and ${isCurrent} and ${isValid}`);
  if (old === undefined) return undefined;
  await tx.run(sql`update token set revoked_at = ${now} where name = ${name} and ${isValid} and id <> ${old.id}`);
  const end = after(now, overlapMs);
  await tx.run(sql`update token set replaced_at = ${now},
    expires_at = case when expires_at < ${end} then expires_at else ${end} end where id = ${old.id}`);
  const { role, queues } = old;
  return insertToken(tx, { name, role, queues, hash, createdBy }, lifeAfterRotation(old, rotation));
}

function insertToken(tx: Tx, made: Omit<NewToken, 'lifeMs'>, lifeMs: number | null): Promise<Token | undefined> {
  const times = { createdAt: now, expiresAt: lifeMs === null ? null : after(now, lifeMs) };
  return tx.get(
    token,
    sql`insert into token ${validToken.values({ ...made, ...times })}
    on conflict (name) where ${isCurrent} do nothing returning ${token}`,
  );
}

function revokeToken(tx: Tx, name: string): Promise<number> {
  return tx.run(sql`update token set revoked_at = ${now} where name = ${name} and ${isValid}`);
}

function tokens(tx: Tx): Promise<Token[]> {
  return tx.all(token, sql`select ${token} from token order by name, id desc`);
}

function validTokens(tx: Tx): Promise<ValidToken[]> {
  return tx.all(validToken, sql`select ${validToken} from token where ${isValid} order by name, id desc`);
}

async function touchTokens(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx.run(sql`update token set last_used_at = ${now} where id ${anyOf(ids)}`);
}

function pruneTokens(tx: Tx, keepMs: number): Promise<number> {
  const old = after(now, -keepMs);
  return tx.run(sql`delete from token where revoked_at <= ${old} or expires_at <= ${old}`);
}

const session = columns<Session>({
  hash: 'text',
  kind: 'text',
  tokenId: 'int',
  configured: 'text',
  parent: 'text',
  request: 'text',
  createdAt: 'instant',
  seenAt: 'instant',
  expiresAt: 'instant',
});

const hasToken = sql`(token_id is null or token_id in (select id from token where ${isValid}))`;
const hasParent = sql`(parent is null or exists (
  select 1 from session p where p.hash = session.parent and p.expires_at > ${now}))`;

async function createSession(tx: Tx, { lifeMs, ...made }: NewSession): Promise<void> {
  const times = { createdAt: now, seenAt: now, expiresAt: after(now, lifeMs) };
  await tx.run(sql`insert into session ${session.values({ ...made, ...times })}`);
}

function useSession(tx: Tx, hash: string, idleMs: number): Promise<Session | undefined> {
  return tx.get(
    session,
    sql`update session
    set seen_at = case when ${after(sql`seen_at`, SEEN_EVERY_MS)} <= ${now} then ${now} else seen_at end
    where hash = ${hash} and kind = 'session' and expires_at > ${now} and ${after(sql`seen_at`, idleMs)} > ${now} and ${hasToken}
    returning ${session}`,
  );
}

function takeSession(tx: Tx, hash: string, kind: SessionKind): Promise<Session | undefined> {
  return tx.get(
    session,
    sql`delete from session
      where hash = ${hash} and kind = ${kind} and expires_at > ${now} and ${hasToken} and ${hasParent}
      returning ${session}`,
  );
}

function pruneSessions(tx: Tx, idleMs: number): Promise<number> {
  return tx.run(sql`delete from session where expires_at <= ${now}
    or (kind = 'session' and ${after(sql`seen_at`, idleMs)} <= ${now}) or not ${hasToken}`);
}

const secret = columns<StoredSecret>({
  name: 'text',
  keyId: 'text',
  sealed: 'text',
  createdAt: 'instant',
  updatedAt: 'instant',
});

async function putSecret(tx: Tx, sealed: SealedSecret): Promise<StoredSecret> {
  const stored = await tx.get(
    secret,
    sql`insert into secret ${secret.values({ ...sealed, createdAt: now, updatedAt: now })}
    on conflict (name) do update set key_id = excluded.key_id, sealed = excluded.sealed, updated_at = excluded.updated_at
    returning ${secret}`,
  );
  return stored as StoredSecret;
}

async function resealSecret(tx: Tx, { name, keyId, sealed }: SealedSecret, old: string): Promise<boolean> {
  const set = secret.set({ keyId, sealed });
  return (await tx.run(sql`update secret set ${set} where name = ${name} and sealed = ${old}`)) > 0;
}

async function deleteSecret(tx: Tx, name: string): Promise<boolean> {
  return (await tx.run(sql`delete from secret where name = ${name}`)) > 0;
}

function secrets(tx: Tx, names: readonly string[] | null): Promise<StoredSecret[]> {
  const isAsked = names === null ? sql`true` : sql`name ${anyOf(names, 'text')}`;
  return tx.all(secret, sql`select ${secret} from secret where ${isAsked} order by name`);
}

const entry = columns<AuditEntry>({
  id: 'bigint',
  at: 'instant',
  actor: 'text',
  address: 'text',
  action: 'text',
  subject: 'text',
  result: 'text',
  details: 'json',
  partOf: 'bigint',
  requestId: 'text',
});
const id = columns<Pick<AuditEntry, 'id'>>({ id: 'bigint' });

async function addAudit(tx: Tx, entries: readonly NewAuditEntry[]): Promise<number[]> {
  const added = await tx.all(id, sql`insert into audit ${entry.rows(entries, { at: now })} returning ${id}`);
  return added.map((row) => row.id);
}

async function endAudit(tx: Tx, ids: readonly number[], { result, details }: AuditEnd): Promise<void> {
  await tx.run(sql`update audit set ${entry.set({ result, details })} where id ${anyOf(ids)} and result is null`);
}

function audit(tx: Tx, filter: AuditFilter, page: { before: number | null; limit: number }): Promise<AuditEntry[]> {
  const { actor, subject, from, to, partOf } = filter;
  const isAsked = allOf([
    actor === undefined ? undefined : sql`actor = ${actor}`,
    subject === undefined ? undefined : sql`${contains('subject', subject)}`,
    from === undefined ? undefined : sql`at >= ${at(from)}`,
    to === undefined ? undefined : sql`at < ${at(to)}`,
    partOf === undefined ? undefined : partOf === null ? sql`part_of is null` : sql`part_of = ${partOf}`,
    page.before === null ? undefined : sql`id < ${page.before}`,
  ]);
  return tx.all(entry, sql`select ${entry} from audit where ${isAsked} order by id desc limit ${page.limit}`);
}

/** `+ 0`: found by subject. In the order of ids, all that is newer would be read. */
function auditOf(tx: Tx, subjects: readonly string[], limit: number): Promise<AuditEntry[]> {
  const isAsked = sql`subject ${anyOf(subjects, 'text')}`;
  return tx.all(entry, sql`select ${entry} from audit where ${isAsked} order by id + 0 desc limit ${limit}`);
}

function pruneAudit(tx: Tx, keepMs: number, limit: number): Promise<number> {
  const old = sql`select id from audit where at < ${after(now, -keepMs)} order by at limit ${limit}`;
  return tx.run(sql`delete from audit where id ${anyFrom(old)}`);
}

export const access = {
  createToken: many('write', createToken),
  rotateToken: many('write', rotateToken),
  revokeToken: one('write', revokeToken),
  tokens: one('read', tokens),
  validTokens: one('urgent', validTokens),
  touchTokens: one('write', touchTokens),
  pruneTokens: one('write', pruneTokens),
  createSession: one('write', createSession),
  useSession: one('write', useSession),
  takeSession: one('write', takeSession),
  pruneSessions: one('write', pruneSessions),
  putSecret: one('write', putSecret),
  resealSecret: one('write', resealSecret),
  deleteSecret: one('write', deleteSecret),
  secrets: one('urgent', secrets),
  addAudit: one('write', addAudit),
  endAudit: one('write', endAudit),
  audit: one('read', audit),
  auditOf: one('read', auditOf),
  pruneAudit: one('write', pruneAudit),
};
