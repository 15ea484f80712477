import type { Statement } from './database.ts';

const WRITES = /\b(insert into|update|delete from|lock table|for (no key )?update|for (key )?share)\b/i;
const known = new WeakMap<Statement, boolean>();

/** True if a statement changes or locks rows. */
export function isWrite(statement: Statement): boolean {
  let found = known.get(statement);
  if (found === undefined) {
    found = WRITES.test(statement.text);
    known.set(statement, found);
  }
  return found;
}
