import { existsSync, statSync } from 'node:fs';
import { Command } from 'commander';
import { isThere } from '../../ops/new-file.ts';
import { print } from '../client-command.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { EXIT } from '../errors/exit-code.ts';
import { addSettingFlags, settingsFrom } from '../flags/setting.ts';

/** `workron backup FILE`: a consistent copy of a SQLite store, while Workron runs on it. */
export function backupCommand(): Command {
  const command = new Command('backup')
    .description('Copy a SQLite store to FILE; works while it runs')
    .argument('<file>', 'The copy; it must not exist yet');
  return addSettingFlags(command, 'backup').action(async (target: string) => {
    const { store } = settingsFrom(command, 'backup');
    if (store.driver !== 'sqlite') {
      throw usageError(
        `a ${store.driver} store is not a file`,
        store.driver === 'postgres' ? 'use pg_dump' : undefined,
      );
    }
    if (!existsSync(store.file)) {
      throw new CliError(EXIT.notFound, `there is no store at ${store.file}`, { hint: '--db-url sqlite:FILE' });
    }
    if (isThere(target)) throw new CliError(EXIT.conflict, `${target} exists already`, { hint: 'name another file' });
    const { copyDatabase } = await import('../../store/sqlite/base/copy-database.ts');
    copyDatabase(store.file, target);
    print(`${target}: ${statSync(target).size} bytes, a whole copy of ${store.file}`);
  });
}
