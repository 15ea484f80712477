/** Files: workflows and schedules are made to match them; crontabs become them. */

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename } from 'node:path';
import { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import type { ScheduleApplied } from '../../api/schedule-apply.ts';
import type { ReadSchedules } from '../../api/schedule-file.ts';
import { clientCommand, connect, outputOf, print, printData } from '../client-command.ts';
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
  return command.action(async (path: string, { owner, dryRun = false }: { owner?: string; dryRun?: boolean }) => {
    const text = await readText(path);
    if (await isWorkflow(text)) await applyWorkflow(command, { path, text, dryRun });
    else await applySchedules(command, { path, text, owner, dryRun });
  });
}

interface Applied {
  path: string;
  text: string;
  owner?: string | undefined;
  dryRun: boolean;
}

async function applySchedules(command: Command, { path, text, owner: given, dryRun }: Applied): Promise<void> {
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
}

/** A workflow file has steps; a schedule file has schedules. What cannot be read is reported as a schedule file. */
async function isWorkflow(text: string): Promise<boolean> {
  const { WorkflowSource } = await import('../../api/workflow/source.ts');
  const { value } = new WorkflowSource(text);
  return typeof value === 'object' && value !== null && 'steps' in value;
}

async function applyWorkflow(command: Command, { path, text, dryRun }: Applied): Promise<void> {
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
  return command.addCommand(importCrontabCommand());
}

interface ImportOptions {
  timezone: string;
  system?: boolean;
  dropRedirects?: boolean;
  apply?: boolean;
  owner: string;
}

/** `workron import crontab`: prints schedules that do what cron does; with `--apply`, makes them. */
function importCrontabCommand(): Command {
  const command = clientCommand('crontab', 'Print the schedules of a crontab as YAML, for review and `workron apply`')
    .argument('[file]', 'A crontab, or - for standard input (default: what crontab -l prints)')
    .option(
      '--timezone <ZONE>',
      'Zone of lines without CRON_TZ or TZ',
      Intl.DateTimeFormat().resolvedOptions().timeZone,
    )
    .option('--system', 'Each command is preceded by a user, as in /etc/crontab')
    .option('--drop-redirects', 'Leave out redirections of output to files: Workron keeps it')
    .option('--apply', 'Make the schedules now, instead of printing them')
    .option('--owner <NAME>', 'With --apply: whose schedules they are', 'crontab');
  return command.action(async (file: string | undefined, options: ImportOptions) => {
    const text = await crontabText(file, options.system === true);
    const { timezone, system = false, dropRedirects = false } = options;
    const crontab = readCrontab(text, { timezone, system, dropRedirects, homeOf });
    const yaml = await yamlOf(crontab);
    const { json } = outputOf(command);
    if (options.apply)
      await applySchedules(command, { path: file ?? 'crontab', text: yaml, owner: options.owner, dryRun: false });
    else if (json)
      printData({ schedules: crontab.imported.map(({ schedule }) => schedule), refused: crontab.refused }, json);
    else print(yaml);
    for (const { line, reason } of crontab.refused) note(`line ${line} is not imported: ${reason}`);
    const silent = crontab.imported.filter(({ writesTo }) => writesTo !== null).map(({ line }) => line);
    if (silent.length > 0)
      note(
        `${silent.length === 1 ? `line ${silent[0]} writes its` : `lines ${silent.join(', ')} write their`} output to files, so \`workron logs\` has none; --drop-redirects lets Workron keep it`,
      );
    if (options.apply) note('cron still runs these lines, too: comment them out there (crontab -e)');
    if (crontab.refused.some(({ wrong }) => wrong)) process.exitCode = EXIT.failed;
  });
}

async function crontabText(file: string | undefined, system: boolean): Promise<string> {
  if (file !== undefined || system) return new TextDecoder().decode(await readInput(file ?? '/etc/crontab'));
  const { spawnSync } = await import('node:child_process');
  const { error, status, stdout, stderr } = spawnSync('crontab', ['-l'], { encoding: 'utf8' });
  if (error === undefined && status === 0) return stdout;
  throw usageError(
    `crontab -l: ${error === undefined ? stderr.trim() : 'there is no such program'}`,
    'name a file, or -',
  );
}

/** The home of a user of this machine, or of the one who asks. */
function homeOf(user: string | undefined): string | null {
  if (user === undefined) return homedir();
  try {
    const entries = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'));
    return entries.find(([name]) => name === user)?.[5] ?? null;
  } catch {
    return null;
  }
}

/** What else is possible, beside each setting that stands for cron's own behaviour. */
const CHOICES: readonly (readonly [path: readonly string[], choice: string])[] = [
  [['overlap'], 'as cron; skip: not while an earlier run goes on'],
  [['catchup'], 'as cron; latest: once, after the machine was off'],
  [['job', 'cwd'], 'as cron: the home directory'],
  [['job', 'timeout'], 'cron has none; the default is 5m'],
  [['job', 'max_attempts'], 'as cron; 3 retries failures'],
];

/** YAML for review: differences from cron are comments above the schedule. */
async function yamlOf({ imported, refused, notes }: Crontab): Promise<string> {
  const { Document } = await import('yaml');
  const document = new Document(
    { schedules: imported.map(({ schedule }) => schedule) },
    { aliasDuplicateObjects: false },
  );
  imported.forEach(({ line, notes, writesTo }, index) => {
    const at = (path: readonly string[]) =>
      document.getIn(['schedules', index, ...path], true) as {
        commentBefore?: string;
        comment?: string;
        flow?: boolean;
      };
    const file = writesTo === null ? [] : [`its output goes to ${writesTo}, so Workron has none`];
    at([]).commentBefore = [`line ${line}`, ...notes, ...file].map((text) => ` ${text}`).join('\n');
    at(['catchup']).flow = true;
    for (const [path, choice] of CHOICES)
      if (document.hasIn(['schedules', index, ...path])) at(path).comment = ` ${choice}`;
  });
  const head = [
    'These schedules do what cron did; each comment says what else is possible.',
    ...notes,
    ...refused.map(({ line, text, reason }) => `line ${line} is not imported: ${reason}\n   ${text}`),
  ];
  document.commentBefore = head.map((text) => ` ${text}`).join('\n');
  return document.toString({ lineWidth: 0 });
}
