import { Command } from 'commander';
import { print, printData, refuseExtra } from '../client-command.ts';
import { EXIT } from '../errors/exit-code.ts';
import { note } from '../errors/report.ts';
import { type Crontab, readCrontab } from '../input/crontab.ts';
import { readInput } from '../input/file.ts';

/** `workron import`: converts schedules of other systems, for review. */
export function importCommand(): Command {
  const command = new Command('import').description('Convert a crontab to schedules, for review');
  command.allowExcessArguments().action(() => {
    refuseExtra(command);
    command.outputHelp();
  });
  return command.addCommand(importCrontabCommand());
}

interface ImportOptions {
  timezone: string;
  system?: boolean;
  json?: boolean;
}

/** `workron import crontab`: prints schedules and submits nothing. */
function importCrontabCommand(): Command {
  return new Command('crontab')
    .description('Print the schedules of a crontab as YAML; nothing is submitted')
    .argument('<file>', 'A crontab, or - for standard input: crontab -l | workron import crontab -')
    .option(
      '--timezone <ZONE>',
      'Zone of lines without CRON_TZ or TZ',
      Intl.DateTimeFormat().resolvedOptions().timeZone,
    )
    .option('--system', 'Each command is preceded by a user, as in /etc/crontab')
    .option('--json', 'Print JSON')
    .action(async (file: string, { timezone, system = false, json = false }: ImportOptions) => {
      const crontab = readCrontab(new TextDecoder().decode(await readInput(file)), { timezone, system });
      if (json)
        printData({ schedules: crontab.imported.map(({ schedule }) => schedule), refused: crontab.refused }, 'json');
      else print(await yamlOf(crontab));
      for (const { line, reason } of crontab.refused) note(`line ${line} is not imported: ${reason}`);
      if (crontab.refused.length > 0) process.exitCode = EXIT.failed;
    });
}

/** YAML for review: differences from cron are comments above the schedule. */
async function yamlOf({ imported, refused, notes }: Crontab): Promise<string> {
  const { Document } = await import('yaml');
  const document = new Document(
    { schedules: imported.map(({ schedule }) => schedule) },
    { aliasDuplicateObjects: false },
  );
  imported.forEach(({ line, notes }, index) => {
    const node = document.getIn(['schedules', index], true) as { commentBefore?: string };
    node.commentBefore = [`line ${line}`, ...notes].map((text) => ` ${text}`).join('\n');
  });
  const head = [
    'Review before use. cron starts commands in the home directory of their user; set job.cwd where one relies on it.',
    ...notes,
    ...refused.map(({ line, text, reason }) => `line ${line} is not imported: ${reason}\n   ${text}`),
  ];
  document.commentBefore = head.map((text) => ` ${text}`).join('\n');
  return document.toString({ lineWidth: 0 });
}
