import { randomBytes } from 'node:crypto';

export function newGangId(): string {
  return randomBytes(6).toString('hex');
}
