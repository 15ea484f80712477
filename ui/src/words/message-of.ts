import { WorkronError } from '../../../src/api/problem.ts';

/** The server's message. A field that it names by a path, such as `/job/command`, is named as people write it. */
export function messageOf(error: unknown): string {
  if (error instanceof WorkronError)
    return error.message.replace(/^\/([\w/-]+): /, (_, path: string) => `${path.replaceAll('/', '.')}: `);
  return error instanceof Error ? error.message : String(error);
}

export function isUnauthorized(error: unknown): boolean {
  return error instanceof WorkronError && error.code === 'unauthorized';
}

export function isMissing(error: unknown): boolean {
  return error instanceof WorkronError && error.httpStatus === 404;
}
