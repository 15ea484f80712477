/** The commands that start a process of Workron, or work on its store without one. */

import { appendFileSync, createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { Command } from 'commander';
import { byteText } from '../../api/byte-text.ts';
import { countText } from '../../api/count-text.ts';
import type { Finding } from '../../api/doctor.ts';
import { routes } from '../../api/routes.ts';
import { isThere } from '../../ops/new-file.ts';
import type { StoreChoice } from '../../ops/settings/settings.ts';
import { chooseStore } from '../../ops/settings/store.ts';
import { connect, jsonOption, outputOf, print, printData } from '../client-command.ts';
import { CliError, EXIT, usageError } from '../errors/cli-error.ts';
import { note } from '../errors/report.ts';
import { addSettingFlags, settingsFrom } from '../flags/setting.ts';
import { dim, oneLine } from '../output/style.ts';

/** `workron up`: everything in one process. */
export function upCommand(): Command {
  const command = new Command('up').description('Start Workron: API, scheduler and worker in one process');
  return addSettingFlags(command, 'up').action(async () => {
    const settings = settingsFrom(command, 'up');
    const { serve } = await import('../serve.ts');
    process.exitCode = await serve(settings, settings.role);
  });
}

/** `workron scheduler`: API and duties, without a worker. */
export function schedulerCommand(): Command {
  const command = new Command('scheduler').description('Start API and scheduler; jobs run on remote workers');
  return addSettingFlags(command, 'scheduler').action(async () => {
    const settings = settingsFrom(command, 'scheduler');
    const { serve } = await import('../serve.ts');
    process.exitCode = await serve(settings, ['api', 'scheduler']);
  });
}

/** `workron worker`: runs jobs of a scheduler in another process, over HTTP or attached to its PostgreSQL. */
export function workerCommand(): Command {
  const command = new Command('worker').description('Start a worker for a remote scheduler (--scheduler or --db-url)');
  return addSettingFlags(command, 'worker').action(async () => {
    const settings = settingsFrom(command, 'worker');
    const { serve } = await import('../serve.ts');
    process.exitCode = await serve(settings, ['worker']);
  });
}

/** `workron migrate`: brings the store's schema up to date, without starting anything. */
export function migrateCommand(): Command {
  const command = new Command('migrate')
    .description('Update the database schema (`up` does so itself)')
    .option(
      '--grant-roles',
      'Also make PostgreSQL roles with few rights: NAME_submit, _viewer, _worker and _scheduler, where NAME is the schema',
    );
  addSettingFlags(command, 'migrate');
  return command.action(async ({ grantRoles: wantsRoles }: { grantRoles?: boolean }) => {
    const settings = settingsFrom(command, 'migrate');
    const [{ openStore }, { ownLog }] = await Promise.all([
      import('../../node/open-store.ts'),
      import('../output/terminal-log.ts'),
    ]);
    await using store = await openStore(settings, { log: ownLog(settings.logLevel), migrate: true });
    print(`${store.driver} ${store.location}: the schema is up to date`);
    if (!wantsRoles) return;
    if (settings.store.driver !== 'postgres') throw usageError('--grant-roles is for PostgreSQL');
    const { grantRoles } = await import('../../store/postgres/base/roles.ts');
    const roles = await grantRoles({ url: settings.store.url, schema: settings.dbSchema });
    print(`roles: ${roles.join(', ')}`);
  });
}

const MARKS = { ok: 'ok     ', warning: 'warning', bad: 'bad    ' } as const;

/** `workron doctor`: examines settings, machine and store, and says what to do about what it finds. */
export function doctorCommand(): Command {
  const command = new Command('doctor')
    .description('Check settings, machine and store; say what is wrong and how to fix it')
    .addOption(jsonOption())
    .option('--unmark', 'Check nothing; allow a SQLite file that was promoted to be started again')
    .option('--url <URL>', 'Ask the server there, instead of looking at machine and store')
    .option('--token-file <FILE>', 'With --url: file that holds the token of an administrator')
    .option('--profile <NAME>', 'Ask the server of this profile');
  return addSettingFlags(command, 'migrate').action(
    async ({ unmark, url, profile }: { unmark?: boolean; url?: string; profile?: string }) => {
      const findings =
        url === undefined && profile === undefined ? await examined(command, unmark === true) : await asked(command);
      if (findings === null) return;
      const { json } = outputOf(command);
      if (json) printData(json.fields === null ? { items: findings } : findings, json);
      else {
        for (const { check, state, detail, advice } of findings) {
          print(`${MARKS[state]}  ${check.padEnd(18)}${oneLine(detail)}`);
          if (advice !== null) print(dim(`${' '.repeat(27)}→ ${oneLine(advice)}`));
        }
      }
      if (findings.some(({ state }) => state === 'bad')) process.exitCode = EXIT.failed;
    },
  );
}

/** `null` if there was nothing to examine. */
async function examined(command: Command, unmark: boolean): Promise<Finding[] | null> {
  const { store, dbSchema } = settingsFrom(command, 'migrate');
  if (unmark) {
    await unmarkFile(store);
    return null;
  }
  const { examine } = await import('../../node/doctor/doctor.ts');
  return await examine(store, dbSchema);
}

async function asked(command: Command): Promise<Finding[]> {
  return (await connect(command).json(routes.readDoctor)).items;
}

/** What Workron keeps in the folder in which it is started. */
const IGNORED = ['workron.db*'];

/** `workron init`: prepares a project for Workron. */
export function initCommand(): Command {
  const command = new Command('init')
    .description('Prepare this folder: adds the files of Workron to .gitignore')
    .option('--dry-run', 'Only print the lines');
  return command.action(({ dryRun }: { dryRun?: boolean }) => {
    const before = existsSync('.gitignore') ? readFileSync('.gitignore', 'utf8') : '';
    const missing = IGNORED.filter((line) => !before.split(/\r?\n/).includes(line));
    if (dryRun) return print(missing.join('\n'));
    if (missing.length === 0) return print('.gitignore has them already; next: workron up');
    appendFileSync('.gitignore', `${before === '' || before.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`);
    print(`added ${missing.join(', ')} to .gitignore; next: workron up`);
  });
}

async function unmarkFile(store: StoreChoice): Promise<void> {
  if (store.driver !== 'sqlite')
    throw usageError(`--unmark is for a SQLite file, not ${store.driver}`, '--db-url sqlite:FILE');
  if (!existsSync(store.file)) {
    throw new CliError(EXIT.notFound, `there is no store at ${store.file}`, { hint: '--db-url sqlite:FILE' });
  }
  const { unmark } = await import('../../node/promote/unmark.ts');
  const mark = unmark(store.file);
  if (mark === undefined) throw new CliError(EXIT.conflict, `${store.file} is not marked as promoted`);
  print(`${store.file} can be started again. Nothing may run on ${mark.to} from now on: jobs would run twice.`);
}

interface PromoteFlags {
  dbSchema: string;
  dryRun?: boolean;
  undo?: boolean;
}

/** `workron promote sqlite:./workron.db postgres://…`: moves a stopped installation. */
export function promoteCommand(): Command {
  return new Command('promote')
    .description('Move a stopped installation from a SQLite file to PostgreSQL')
    .argument('<from>', 'The file: sqlite:./workron.db')
    .argument('<to>', 'The database: postgres://user:password@host/database')
    .option('--db-schema <NAME>', 'The schema in the database', 'workron')
    .option('--dry-run', 'Check everything and count; write nothing')
    .option('--undo', 'Drop what an earlier run has moved, if it has not ended')
    .action(async (from: string, to: string, { dbSchema: schema, dryRun, undo }: PromoteFlags) => {
      const [source, target] = [chooseStore(from, null), chooseStore(to, null)];
      if (source.driver !== 'sqlite') throw usageError(`${from} is not a SQLite file`, 'sqlite:./workron.db');
      if (target.driver !== 'postgres') throw usageError(`${to} is not a PostgreSQL database`, 'postgres://…');
      if (!undo && !existsSync(source.file)) {
        throw new CliError(EXIT.notFound, `there is no store at ${source.file}`, { hint: 'sqlite:FILE' });
      }
      const promotion = await import('../../node/promote/promote.ts');
      const options = { file: source.file, url: target.url, schema, tell: print };
      if (undo) {
        await promotion.undo(options);
        return print(`schema ${schema} was dropped; ${source.file} was not changed`);
      }
      if (dryRun) return promotion.rehearse(options);
      const rows = await promotion.promote(options);
      print(
        `${countText(rows, 'row is', 'rows are')} in PostgreSQL. Start it with the same port: workron up --db-url ${target.url.replace(/:[^:@/]*@/, ':…@')}`,
      );
      print(`${source.file} was not changed, except for a mark: Workron does not start on it again.`);
    });
}

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
    print(`Backed up ${store.file} to ${target} (${byteText(statSync(target).size)})`);
  });
}

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
