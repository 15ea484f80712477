import { randomUUID } from 'node:crypto';

/** The caller's `X-Request-ID` where it is fit for a log line, else a new one. */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\w.:-]{1,128}$/.test(header) ? header : randomUUID();
}
