import { getSystemErrorMap } from 'node:util';

/** What the system says about a file, without its code and the path, which a message names itself. */
export function systemErrorText(error: unknown): string {
  const { code, errno, message } = error as NodeJS.ErrnoException;
  if (code === 'EISDIR') return 'it is a folder';
  return getSystemErrorMap().get(errno ?? 0)?.[1] ?? message;
}
