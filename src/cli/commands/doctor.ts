import { Command } from 'commander';
import { print } from '../client-command.ts';
import { EXIT } from '../errors/exit-code.ts';
import { addSettingFlags, settingsFrom } from '../flags/setting.ts';
import { dim, oneLine } from '../output/style.ts';

const MARKS = { ok: 'ok     ', warning: 'warning', bad: 'bad    ' } as const;

/** `workron doctor`: examines settings, machine and store, and says what to do about what it finds. */
export function doctorCommand(): Command {
  const command = new Command('doctor')
    .description('Check settings, machine and store; say what is wrong and how to fix it')
    .option('--json', 'Print the findings as JSON');
  return addSettingFlags(command, 'migrate').action(async ({ json }: { json?: boolean }) => {
    const { store, dbSchema } = settingsFrom(command, 'migrate');
    const { examine } = await import('../../node/doctor/doctor.ts');
    const findings = await examine(store, dbSchema);
    if (json) print(JSON.stringify({ items: findings }));
    else {
      for (const { check, state, detail, advice } of findings) {
        print(`${MARKS[state]}  ${check.padEnd(18)}${oneLine(detail)}`);
        if (advice !== null) print(dim(`${' '.repeat(27)}→ ${oneLine(advice)}`));
      }
    }
    if (findings.some(({ state }) => state === 'bad')) process.exitCode = EXIT.failed;
  });
}
