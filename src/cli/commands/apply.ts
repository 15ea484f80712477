/** Files: workflows and schedules are made to match them; crontabs become them. */

import { basename } from 'node:path';
import { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import type { ScheduleApplied } from '../../api/schedule-apply.ts';
import type { ReadSchedules } from '../../api/schedule-file.ts';
import { clientCommand, connect, jsonOption, outputOf, print, printData, refuseExtra } from '../client-command.ts';
import { CliError, EXIT, usageError } from '../errors/cli-error.ts';
import { note } from '../errors/report.ts';
import { type Crontab, readCrontab } from '../input/crontab.ts';
import { nameOfInput, readInput } from '../input/file.ts';
import { problemsText, readText } from '../input/workflow.ts';
import { styled } from '../output/style.ts';

type Item = ScheduleApplied['items'][number];

const SIGNS = { add: '+', change: '~', remove: '-', keep: ' ' } as const;
const FORMATS = { add: 'green', change: 'yellow', remove: 'red', keep: 'dim' } as const;

/** `workron apply FILE`: stores a workflow, or creates, changes and deletes the owner's schedules to match the file. */
export function applyCommand(): Command {
  const command = clientCommand('apply', "Store a workflow, or make an owner's schedules match a file")
    .argument('<file>', 'YAML or JSON; - is standard input')
    .option('--owner <NAME>', "Whose schedules these are (default: the file's owner, else its name)")
    .option('--dry-run', 'Only print the plan');
  return command.action(
    async (path: string, { owner: given, dryRun = false }: { owner?: string; dryRun?: boolean }) => {
      const text = await readText(path);
      if (await isWorkflow(text)) return applyWorkflow(command, { path, text, dryRun });
      const { readScheduleFile } = await import('../../api/schedule-file.ts');
      const read = readScheduleFile(text, Date.now());
      if (read.file === null) throw refusal(path, read);
      const owner = given ?? read.file.owner ?? (path === '-' ? undefined : basename(path));
      if (owner === undefined) throw usageError('expected an owner: in the file, or by --owner');
      const body = { owner, schedules: read.file.schedules, dry_run: dryRun };
      const applied = await placing(path, read, () => connect(command).json(routes.applySchedules, { body }));
      const { json, quiet } = outputOf(command);
      if (json) return printData(applied, json);
      const changed = applied.items.filter(({ action }) => action !== 'keep');
      if (quiet) return print(changed.map(({ name }) => name).join('\n'));
      for (const item of changed) print(styled(FORMATS[item.action], lineOf(item)));
      print(summary(applied));
    },
  );
}

/** A workflow file has steps; a schedule file has schedules. What cannot be read is reported as a schedule file. */
async function isWorkflow(text: string): Promise<boolean> {
  const { WorkflowSource } = await import('../../api/workflow/source.ts');
  const { value } = new WorkflowSource(text);
  return typeof value === 'object' && value !== null && 'steps' in value;
}

async function applyWorkflow(
  command: Command,
  { path, text, dryRun }: { path: string; text: string; dryRun: boolean },
): Promise<void> {
  const { readWorkflowFile } = await import('../../api/workflow/file.ts');
  const { definition, ...found } = readWorkflowFile(text);
  if (definition === null) {
    process.stderr.write(problemsText(nameOfInput(path), found));
    throw new CliError(EXIT.usage, `${nameOfInput(path)} is not a valid workflow; nothing was changed`);
  }
  const { name } = definition;
  const body = { source: text, dry_run: dryRun };
  const applied = await connect(command).json(routes.applyDefinition, { params: { name }, body });
  const { json, quiet } = outputOf(command);
  if (json) return printData(applied, json);
  if (quiet) return applied.changed ? print(name) : undefined;
  if (!applied.changed) return print(`workflow ${name} is unchanged: version ${applied.version}`);
  print(`workflow ${name}: version ${applied.version} ${dryRun ? 'to store' : 'stored'}`);
}

/** Shows what the server refuses at its line in the file. */
async function placing<T>(path: string, { locate }: ReadSchedules, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    const errors = error instanceof CliError ? error.problem?.['errors'] : undefined;
    if (!Array.isArray(errors) || errors.length === 0) throw error;
    const problems = (errors as { pointer: string; detail: string }[]).map(({ pointer, detail }) =>
      locate(pointer, detail),
    );
    throw refusal(path, { problems, more: 0 });
  }
}

function refusal(path: string, found: Pick<ReadSchedules, 'problems' | 'more'>): CliError {
  const name = nameOfInput(path);
  process.stderr.write(problemsText(name, found));
  return new CliError(EXIT.usage, `${name} is not a valid list of schedules; nothing was changed`);
}

function lineOf({ action, name, fields }: Item): string {
  return `${SIGNS[action]} ${action.padEnd(6)} ${name}${fields.length === 0 ? '' : `  (${fields.join(', ')})`}`;
}

function summary({ owner, dry_run, items }: ScheduleApplied): string {
  const count = (action: Item['action']) => items.filter((item) => item.action === action).length;
  const words = dry_run ? ['to add', 'to change', 'to remove'] : ['added', 'changed', 'removed'];
  const counts = (['add', 'change', 'remove'] as const).map((action, place) => `${count(action)} ${words[place]}`);
  return `${owner}: ${counts.join(', ')}, ${count('keep')} unchanged`;
}

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
}

/** `workron import crontab`: prints schedules and submits nothing. */
function importCrontabCommand(): Command {
  const command = new Command('crontab')
    .description('Print the schedules of a crontab as YAML; nothing is submitted')
    .argument('<file>', 'A crontab, or - for standard input: crontab -l | workron import crontab -')
    .option(
      '--timezone <ZONE>',
      'Zone of lines without CRON_TZ or TZ',
      Intl.DateTimeFormat().resolvedOptions().timeZone,
    )
    .option('--system', 'Each command is preceded by a user, as in /etc/crontab')
    .addOption(jsonOption());
  return command.action(async (file: string, { timezone, system = false }: ImportOptions) => {
    const { json } = outputOf(command);
    const crontab = readCrontab(new TextDecoder().decode(await readInput(file)), { timezone, system });
    if (json)
      printData({ schedules: crontab.imported.map(({ schedule }) => schedule), refused: crontab.refused }, json);
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
