import { oneLine } from './style.ts';

/** The error of a job in one line: `exit 7: `, and the last line that it printed. */
export function gist(error: string): string {
  const [first = '', ...rest] = error.split('\n').map(oneLine).filter(Boolean);
  const last = rest.at(-1);
  return last === undefined ? first : `${first}: ${last}`;
}
