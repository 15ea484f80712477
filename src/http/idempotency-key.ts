import type { IncomingHttpHeaders } from 'node:http';
import { WorkronError } from '../core/error.ts';
import type { Principal } from './authenticate.ts';

/** The caller's `Idempotency-Key`, scoped to method, address and caller; `undefined` where none was sent. */
export function idempotencyKey(
  headers: IncomingHttpHeaders,
  scope: { method: string; path: string; principal: Principal },
): string | undefined {
  const header = headers['idempotency-key'];
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(header)) {
    throw new WorkronError('bad_request', 'Idempotency-Key must be 1 to 255 printable ASCII characters without spaces');
  }
  return `${scope.method} ${scope.path} ${scope.principal.id} ${header}`;
}
