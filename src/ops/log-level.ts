export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
/** What goes to the log: this and everything graver. */
export type LogLevel = (typeof LOG_LEVELS)[number];
