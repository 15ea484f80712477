/** What submissions have in common: the caller's key, and the answer's sign of a replay. */

import { createHash } from 'node:crypto';
import { idempotencyKey } from './idempotency-key.ts';
import type { Call } from './route.ts';

/** The key counts for this method, address and token; the fingerprint is that of the body as sent. */
export function idempotencyOf(call: Call, path: string) {
  const key = idempotencyKey(call.headers, { method: 'POST', path, principal: call.principal });
  if (key === undefined) return {};
  return { idempotency: { key, fingerprint: createHash('sha256').update(call.bytes).digest('base64url') } };
}

export function replayHeader(replayed: boolean): Record<string, string> {
  return replayed ? { 'idempotent-replayed': 'true' } : {};
}
