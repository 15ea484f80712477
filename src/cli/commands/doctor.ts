import { existsSync } from 'node:fs';
import { Command } from 'commander';
import type { StoreChoice } from '../../ops/settings/settings.ts';
import { print } from '../client-command.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { EXIT } from '../errors/exit-code.ts';
import { addSettingFlags, settingsFrom } from '../flags/setting.ts';
import { jsonText } from '../output/json-text.ts';
import { dim, oneLine } from '../output/style.ts';

const MARKS = { ok: 'ok     ', warning: 'warning', bad: 'bad    ' } as const;

/** `workron doctor`: examines settings, machine and store, and says what to do about what it finds. */
export function doctorCommand(): Command {
  const command = new Command('doctor')
    .description('Check settings, machine and store; say what is wrong and how to fix it')
    .option('--json', 'Print the findings as JSON')
    .option('--unmark', 'Check nothing; allow a SQLite file that was promoted to be started again');
  return addSettingFlags(command, 'migrate').action(async ({ json, unmark }: { json?: boolean; unmark?: boolean }) => {
    const { store, dbSchema } = settingsFrom(command, 'migrate');
    if (unmark) return await unmarkFile(store);
    const { examine } = await import('../../node/doctor/doctor.ts');
    const findings = await examine(store, dbSchema);
    if (json) print(jsonText({ items: findings }));
    else {
      for (const { check, state, detail, advice } of findings) {
        print(`${MARKS[state]}  ${check.padEnd(18)}${oneLine(detail)}`);
        if (advice !== null) print(dim(`${' '.repeat(27)}→ ${oneLine(advice)}`));
      }
    }
    if (findings.some(({ state }) => state === 'bad')) process.exitCode = EXIT.failed;
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
