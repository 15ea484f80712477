/** Node's SQLite. Node 22 and 24 print an ExperimentalWarning when it is loaded, which would be the first line of every program. */

import type * as Sqlite from 'node:sqlite';

export const { DatabaseSync } = loadQuietly();
export type DatabaseSync = Sqlite.DatabaseSync;

function loadQuietly(): typeof Sqlite {
  const emitWarning = Reflect.get(process, 'emitWarning');
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}
