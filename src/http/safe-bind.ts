import { isIP } from 'node:net';
import { WorkronError } from '../core/error.ts';

/** With letters and digits, 22 characters are the 128 bits of randomness that nobody can guess. */
const MIN_TOKEN_LENGTH = 22;

/** Throws if listening on `host` without a token, or with one that can be guessed, would let strangers run commands. */
export function assertSafeBind(host: string, token: string | null): void {
  if (isLoopback(host)) return;
  if (token !== null && token.length >= MIN_TOKEN_LENGTH) return;
  if (token !== null) {
    throw new WorkronError(
      'forbidden',
      `Refusing to listen on ${host} with a token of ${token.length} characters: it can be guessed. ` +
        `Use at least ${MIN_TOKEN_LENGTH} random ones, such as those of \`openssl rand -hex 16\`.`,
    );
  }
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
