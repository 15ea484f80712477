/** Logs for people at a terminal: one line per entry with the time of day, and the fields at its end. */

import { isWorkronError } from '../../core/error.ts';
import { createLog, type Log } from '../../ops/log.ts';
import { LOG_LEVELS, type LogLevel } from '../../ops/log-level.ts';
import { harmless, oneLine, styled } from './style.ts';

const FORMATS = { debug: 'dim', info: 'cyan', warn: 'yellow', error: 'red' } as const;
type Level = keyof typeof FORMATS;

interface TerminalLogOptions {
  write?: (text: string) => void;
  now?: () => Date;
  /** Shown with every line. */
  fields?: object;
}

/** The log of a server process: for people on a terminal, JSON lines everywhere else. */
export function ownLog(level: LogLevel): Log {
  return process.stderr.isTTY ? terminalLog(level) : createLog(level);
}

export function terminalLog(level: LogLevel, options: TerminalLogOptions = {}): Log {
  const { write = (text) => process.stderr.write(text), now = () => new Date(), fields: always = {} } = options;
  const at = (one: Level) => (fields: object, message: string) => {
    if (LOG_LEVELS.indexOf(one) < LOG_LEVELS.indexOf(level)) return;
    const time = now().toTimeString().slice(0, 8);
    const word = styled(FORMATS[one], one.padEnd(5), process.stderr);
    const about = describe({ ...always, ...fields });
    write(`${dim(time)} ${word} ${oneLine(message)}${about === '' ? '' : `  ${dim(about)}`}\n${stackOf(fields)}`);
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    isLevelEnabled: (one) => LOG_LEVELS.indexOf(one as LogLevel) >= LOG_LEVELS.indexOf(level),
    child: (fields) => terminalLog(level, { ...options, fields: { ...always, ...fields } }),
  };
}

const dim = (text: string): string => styled('dim', text, process.stderr);

/** `job_id=12 roles=api,worker`, without empty fields. */
function describe(fields: object): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name}=${oneLine(textOf(value))}`)
    .join(' ');
}

function textOf(value: unknown): string {
  if (value instanceof Error) return value.message;
  if (Array.isArray(value)) return value.map(textOf).join(',');
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** The stack of an unexpected error. A `WorkronError` needs only its message. */
function stackOf(fields: object): string {
  const { error } = fields as { error?: unknown };
  if (!(error instanceof Error) || isWorkronError(error) || error.stack === undefined) return '';
  const frames = error.stack.split('\n').filter((line) => /^\s+at /.test(line));
  return frames.map((line) => `${dim(harmless(line))}\n`).join('');
}
