/** Converts crontabs to schedules, with the rules of cron. */

import { isWorkronError } from '../../core/error.ts';
import { parseCron, splitCron } from '../../core/schedule/cron.ts';
import { isOpen } from '../../core/schedule/cron-field.ts';
import { shellLineOf } from './crontab-command.ts';

interface ImportedSchedule {
  name: string;
  cron: string;
  timezone: string;
  job: { command: string; env?: Record<string, string> };
}

interface ImportedLine {
  /** The line number in the file, from 1. */
  line: number;
  schedule: ImportedSchedule;
  /** Notes for a reviewer, where Workron and cron differ. */
  notes: string[];
}

interface RefusedLine {
  line: number;
  text: string;
  reason: string;
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
}

const USER_LINE = /^(?<cron>@\S+|(?:\S+\s+){4}\S+)\s+(?<text>\S.*)$/;
const SYSTEM_LINE = /^(?<cron>@\S+|(?:\S+\s+){4}\S+)\s+(?<user>\S+)\s+(?<text>\S.*)$/;

/** Settings for cron itself, which are not variables of the commands. */
const OF_CRON = ['CRON_TZ', 'MAILTO', 'MAILFROM', 'SHELL', 'CONTENT_TYPE', 'CONTENT_TRANSFER_ENCODING', 'RANDOM_DELAY'];

class UnreadableLine extends Error {}

/** The state of the reader. */
interface Reading {
  options: CrontabOptions;
  settings: Map<string, string>;
  /** The settings that are variables of the commands; `undefined` until a command needs them. */
  variables: { env?: Record<string, string> } | undefined;
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
      if (!(error instanceof UnreadableLine) && !isWorkronError(error, 'schedule_invalid')) throw error;
      crontab.refused.push({ line, text: content, reason: error.message });
    }
  });
  if (reading.settings.get('MAILTO')) {
    crontab.notes.push('MAILTO is not taken over: Workron keeps the output of every job');
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

function scheduleOf(content: string, reading: Reading): { schedule: ImportedSchedule; notes: string[] } {
  const { options, settings } = reading;
  const { cron, user, text } = (options.system ? SYSTEM_LINE : USER_LINE).exec(content)?.groups ?? {};
  if (cron === undefined || text === undefined) {
    throw new UnreadableLine(`expected five fields or a macro, ${options.system ? 'a user and' : 'and'} a command`);
  }
  if (cron.toLowerCase() === '@reboot') {
    throw new UnreadableLine('@reboot has no schedule; use a systemd unit instead');
  }
  const timezone = settings.get('CRON_TZ') || settings.get('TZ')?.replace(/^:/, '') || options.timezone;
  parseCron(cron, timezone);
  reading.variables ??= variablesIn(settings);
  const job = { command: shellLineOf(text, settings.get('SHELL')), ...reading.variables };
  return {
    schedule: { name: nameFor(text, reading.names), cron, timezone, job },
    notes: notesOn(cron, user, settings),
  };
}

function variablesIn(settings: ReadonlyMap<string, string>): { env?: Record<string, string> } {
  const variables = [...settings].filter(([name]) => !OF_CRON.includes(name));
  return variables.length === 0 ? {} : { env: Object.fromEntries(variables) };
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

/** The name of the program that the command starts, with a number if it is taken. */
function nameFor(command: string, taken: Map<string, number>): string {
  const program =
    command
      .replace(/^(\s*cd\s+\S+\s*(&&|;)|\s*\w+=\S*\s)+/, '')
      .trim()
      .split(/[\s;|&<>%]/)[0] ?? '';
  const word = program.split('/').at(-1) ?? '';
  const base =
    word
      .toLowerCase()
      .replace(/[^a-z0-9._-]+/g, '-')
      .slice(0, 200)
      .replace(/^-+|-+$/g, '')
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
