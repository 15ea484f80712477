/** Structured JSON logs. */

import { type DestinationStream, pino } from 'pino';
import type { LogLevel } from './log-level.ts';

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Log;
  /** Whether lines of this level are written; a log without it writes all of them. */
  isLevelEnabled?(level: string): boolean;
}

/** Writes one JSON object per line, by default to stderr: stdout is for the output of CLI commands. */
export function createLog(
  level: LogLevel,
  destination: DestinationStream = pino.destination({ fd: 2, sync: true }),
): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.errWithCause },
    },
    destination,
  );
}

export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
  isLevelEnabled: () => false,
};
