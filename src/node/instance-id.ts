import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/** New at every start, and readable: host, pid and a little chance. */
export function newInstanceId(): string {
  return `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
}
