export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
/** The least severe level that is logged. In a file of its own, so that settings can be read without loading pino. */
export type LogLevel = (typeof LOG_LEVELS)[number];
