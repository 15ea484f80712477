import { createReadStream, existsSync } from 'node:fs';
import { Command } from 'commander';
import { countText } from '../../api/count-text.ts';
import { print } from '../client-command.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { EXIT } from '../errors/exit-code.ts';
import { note } from '../errors/report.ts';
import { addSettingFlags, settingsFrom } from '../flags/setting.ts';

/** `workron export [FILE]`: a whole installation as JSON lines, while Workron runs on it. */
export function exportCommand(): Command {
  const command = new Command('export')
    .description('Export a whole installation as JSON lines; works while it runs')
    .argument('[file]', 'The export, which must not exist yet, or - for standard output', '-');
  return addSettingFlags(command, 'migrate').action(async (file: string) => {
    const { store, schema } = storeFrom(command);
    if (store.driver === 'sqlite' && !existsSync(store.file)) {
      throw new CliError(EXIT.notFound, `there is no store at ${store.file}`, { hint: '--db-url sqlite:FILE' });
    }
    if (file !== '-' && existsSync(file)) {
      throw new CliError(EXIT.conflict, `${file} exists already`, { hint: 'name another file' });
    }
    const { exportTo, exportToFile } = await import('../../node/export/export.ts');
    const options = { store, schema, tell: note };
    const rows = file === '-' ? await exportTo(process.stdout, options) : await exportToFile(file, options);
    note(`${countText(rows, 'row is', 'rows are')} exported`);
  });
}

/** `workron restore FILE`: makes an installation from an export, in a store that is empty. */
export function restoreCommand(): Command {
  const command = new Command('restore')
    .description('Restore an export into an empty file or schema')
    .argument('<file>', 'The export, or - for standard input');
  return addSettingFlags(command, 'migrate').action(async (file: string) => {
    const { store, schema } = storeFrom(command);
    if (file !== '-' && !existsSync(file)) throw usageError(`there is no file ${file}`);
    if (store.driver === 'sqlite' && existsSync(store.file)) {
      throw new CliError(EXIT.conflict, `${store.file} exists already`, { hint: 'name another file by --db-url' });
    }
    const { restore } = await import('../../node/export/restore.ts');
    const input = file === '-' ? process.stdin : createReadStream(file);
    const rows = await restore({ input, store, schema, tell: print });
    print(`${countText(rows, 'row is', 'rows are')} restored. Start Workron with the same --db-url.`);
  });
}

function storeFrom(command: Command) {
  const { store, dbSchema: schema } = settingsFrom(command, 'migrate');
  if (store.driver === 'memory') throw usageError('a memory store ends with its process', '--db-url sqlite:FILE');
  return { store, schema };
}
