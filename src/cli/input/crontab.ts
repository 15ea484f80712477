/** Converts crontabs to schedules that do what cron does. */

import { isWorkronError } from '../../core/error.ts';
import { parseCron, splitCron } from '../../core/schedule/cron.ts';
import { isOpen } from '../../core/schedule/cron-field.ts';
import { shellLineOf, titleOf, withoutRedirections } from './crontab-command.ts';

/** What cron does, where a schedule would do something else by itself. `cwd` is left out if the home is not known. */
interface ImportedSchedule {
  name: string;
  cron: string;
  timezone: string;
  overlap: 'allow';
  catchup: { policy: 'none' };
  job: {
    command: string;
    cwd?: string;
    timeout: '24h';
    max_attempts: 1;
    env: Record<string, string>;
  };
}

interface ImportedLine {
  /** The line number in the file, from 1. */
  line: number;
  schedule: ImportedSchedule;
  /** Notes for a reviewer, where Workron and cron differ. */
  notes: string[];
  /** The file that its output goes to, so that Workron has none; `null` if it has. */
  writesTo: string | null;
}

interface RefusedLine {
  line: number;
  text: string;
  reason: string;
  /** False for what a schedule cannot be, and nobody can mend: `@reboot`. */
  wrong: boolean;
}

export interface Crontab {
  imported: ImportedLine[];
  refused: RefusedLine[];
  /** Notes on the whole file. */
  notes: string[];
}

export interface CrontabOptions {
  /** The zone of lines without CRON_TZ and TZ: that of the machine that cron ran on. */
  timezone: string;
  /** A column with the user comes before the command, as in /etc/crontab. */
  system: boolean;
  /** Leaves out redirections at the end of commands, so that Workron gets the output. */
  dropRedirects?: boolean;
  /** The home of a user, or of the one who imports; `null` if it is not known. */
  homeOf(user: string | undefined): string | null;
}

const USER_LINE = /^(?<cron>@\S+|(?:\S+\s+){4}\S+)\s+(?<text>\S.*)$/;
const SYSTEM_LINE = /^(?<cron>@\S+|(?:\S+\s+){4}\S+)\s+(?<user>\S+)\s+(?<text>\S.*)$/;

/** Settings for cron itself, which are not variables of the commands. */
const OF_CRON = ['CRON_TZ', 'MAILTO', 'MAILFROM', 'CONTENT_TYPE', 'CONTENT_TRANSFER_ENCODING', 'RANDOM_DELAY'];
/** Where cron looks for programs, unless the file says otherwise. */
const CRON_PATH = '/usr/bin:/bin';

class UnreadableLine extends Error {}

/** A line that a schedule cannot stand for. */
class OtherLine extends Error {}

/** The state of the reader. */
interface Reading {
  options: CrontabOptions;
  settings: Map<string, string>;
  /** The settings that are variables of the commands; `undefined` until a command needs them. */
  variables: Record<string, string> | undefined;
  /** The names of schedules, each with the next number to try for another one. */
  names: Map<string, number>;
}

/** Imports every line that is not a comment, or refuses it with a reason. Settings apply to the lines below them. */
export function readCrontab(text: string, options: CrontabOptions): Crontab {
  const crontab: Crontab = { imported: [], refused: [], notes: [] };
  const reading: Reading = { options, settings: new Map(), variables: undefined, names: new Map() };
  text.split(/\r?\n/).forEach((raw, index) => {
    const line = index + 1;
    const content = raw.trim();
    if (content === '' || content.startsWith('#')) return;
    const setting = settingOf(content);
    if (setting !== undefined) {
      reading.settings.set(...setting);
      reading.variables = undefined;
      return;
    }
    try {
      crontab.imported.push({ line, ...scheduleOf(content, reading) });
    } catch (error) {
      const other = error instanceof OtherLine;
      if (!other && !(error instanceof UnreadableLine) && !isWorkronError(error, 'schedule_invalid')) throw error;
      crontab.refused.push({ line, text: content, reason: error.message, wrong: !other });
    }
  });
  const mailTo = reading.settings.get('MAILTO');
  if (mailTo) {
    crontab.notes.push(
      `MAILTO is not taken over: Workron keeps the output of every run (workron logs). To be told of failures, add to a schedule`,
      `  notify: [{ on: [failed], command: "mail -s failed ${mailTo}" }]`,
    );
  }
  return crontab;
}

/** `NAME = value`; both may be quoted. The value is not expanded. */
function settingOf(content: string): [string, string] | undefined {
  const [, name, value = ''] = /^(\w+|"\w+"|'\w+')\s*=\s*(.*)$/.exec(content) ?? [];
  return name === undefined ? undefined : [unquoted(name), unquoted(value)];
}

function unquoted(text: string): string {
  return /^(["']).*\1$/.test(text) ? text.slice(1, -1) : text;
}

function scheduleOf(content: string, reading: Reading): Omit<ImportedLine, 'line'> {
  const { options, settings } = reading;
  const { cron, user, text } = (options.system ? SYSTEM_LINE : USER_LINE).exec(content)?.groups ?? {};
  if (cron === undefined || text === undefined) {
    throw new UnreadableLine(`expected five fields or a macro, ${options.system ? 'a user and' : 'and'} a command`);
  }
  if (cron.toLowerCase() === '@reboot') {
    throw new OtherLine('@reboot has no schedule; use a systemd unit instead');
  }
  const timezone = settings.get('CRON_TZ') || settings.get('TZ')?.replace(/^:/, '') || options.timezone;
  parseCron(cron, timezone);
  reading.variables ??= variablesIn(settings);
  const home = settings.get('HOME') ?? options.homeOf(user);
  const { command, file } = withoutRedirections(text);
  const kept = options.dropRedirects ? command : text;
  return {
    schedule: {
      name: nameFor(text, reading.names),
      cron,
      timezone,
      overlap: 'allow',
      catchup: { policy: 'none' },
      job: {
        command: shellLineOf(kept, settings.get('SHELL')),
        ...(home !== null && { cwd: home }),
        timeout: '24h',
        max_attempts: 1,
        env: reading.variables,
      },
    },
    notes: notesOn(cron, user, settings),
    writesTo: options.dropRedirects ? null : file,
  };
}

function variablesIn(settings: ReadonlyMap<string, string>): Record<string, string> {
  const variables = [...settings].filter(([name]) => !OF_CRON.includes(name));
  return { PATH: CRON_PATH, ...Object.fromEntries(variables) };
}

function notesOn(cron: string, user: string | undefined, settings: ReadonlyMap<string, string>): string[] {
  const notes: string[] = [];
  const { monthDay, weekDay } = splitCron(cron);
  const given = !isOpen(monthDay) && !isOpen(weekDay);
  if (given && (monthDay.startsWith('*') || weekDay.startsWith('*'))) {
    notes.push('cron runs this on days that both day fields name; Workron on days that either names');
  }
  if (user !== undefined) notes.push(`cron runs this as ${user}; Workron as the user of the worker`);
  if (settings.has('RANDOM_DELAY')) notes.push('RANDOM_DELAY is not taken over; see jitter');
  return notes;
}

/** What the command is about, as a name, with a number if it is taken. */
function nameFor(command: string, taken: Map<string, number>): string {
  const base =
    titleOf(command)
      .replace(/[^a-z0-9._-]+/g, '-')
      .slice(0, 200)
      .replace(/^[-.]+|-+$/g, '')
      .slice(0, 100) || 'job';
  let number = taken.get(base) ?? 1;
  let name = number === 1 ? base : `${base}-${number}`;
  while (taken.has(name)) {
    number += 1;
    name = `${base}-${number}`;
  }
  taken.set(base, number + 1);
  if (name !== base) taken.set(name, 2);
  return name;
}
