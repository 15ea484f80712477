import type { NewAuditEntry } from '../../src/core/audit.ts';
import type { NewSession } from '../../src/core/session.ts';
import type { NewToken, TokenRotation } from '../../src/core/token.ts';

let made = 0;

export function aToken(fields: Partial<NewToken> = {}): NewToken {
  made += 1;
  return {
    name: 'ci',
    role: 'operator',
    queues: null,
    hash: `hash ${made}`,
    lifeMs: null,
    createdBy: 'ada',
    ...fields,
  };
}

export function aRotation(fields: Partial<TokenRotation> = {}): TokenRotation {
  made += 1;
  return { name: 'ci', hash: `hash ${made}`, overlapMs: 60_000, lifeMs: undefined, createdBy: 'bob', ...fields };
}

export function aSession(fields: Partial<NewSession> = {}): NewSession {
  const owner = { tokenId: null, configured: 'main', parent: null };
  return { hash: 'hash', kind: 'session', ...owner, request: null, lifeMs: 3_600_000, ...fields };
}

export function anEntry(fields: Partial<NewAuditEntry> = {}): NewAuditEntry {
  const entry = { actor: 'ada', address: '127.0.0.1', action: 'job.cancel', subject: 'job/12' };
  return { ...entry, result: 'ok', details: null, partOf: null, requestId: 'r1', ...fields };
}
