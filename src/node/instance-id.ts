import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/** Returns host, pid and a random suffix: unique per start, and readable. */
export function newInstanceId(): string {
  return `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
}
