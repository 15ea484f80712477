import { isIP } from 'node:net';
import { WorkronError } from '../core/error.ts';

/** Throws if listening on `host` without a token would let strangers run commands. */
export function assertSafeBind(host: string, token: string | null): void {
  if (token !== null || isLoopback(host)) return;
  throw new WorkronError(
    'forbidden',
    `Refusing to listen on ${host} without a token: everybody who can reach it could run commands here. ` +
      'Set one with --token or WORKRON_TOKEN, or listen on this machine only with --host 127.0.0.1.',
  );
}

function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
