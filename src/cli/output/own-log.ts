/** The log of a process that serves: for people on a terminal, for machines everywhere else. */

import { createLog, type Log } from '../../ops/log.ts';
import type { LogLevel } from '../../ops/log-level.ts';
import { terminalLog } from './terminal-log.ts';

export function ownLog(level: LogLevel): Log {
  return process.stderr.isTTY ? terminalLog(level) : createLog(level);
}
