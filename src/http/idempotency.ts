/** Idempotency keys: a submission that is sent again with the same key is answered like the first. */

import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { pathOf } from '../api/route.ts';
import { WorkronError } from '../core/error.ts';
import type { Call } from './handler.ts';

/** The key is scoped to method, path and caller; the fingerprint is that of the body as sent. */
export function idempotencyOf({ route, params, principal, headers, bytes }: Call) {
  const key = keyFrom(headers);
  if (key === undefined) return {};
  const scope = `${route.method} ${pathOf(route, params)} ${principal.id}`;
  const fingerprint = createHash('sha256').update(bytes).digest('base64url');
  return { idempotency: { key: `${scope} ${key}`, fingerprint } };
}

function keyFrom(headers: IncomingHttpHeaders): string | undefined {
  const header = headers['idempotency-key'];
  if (header === undefined) return undefined;
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw new WorkronError('bad_request', 'Idempotency-Key must be 1 to 255 printable ASCII characters without spaces');
}

export function replayHeader(replayed: boolean): Record<string, string> {
  return replayed ? { 'idempotent-replayed': 'true' } : {};
}
