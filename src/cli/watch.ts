/** Shows something again and again: in place on a terminal, one after the other in a pipe. */

import { setTimeout as sleep } from 'node:timers/promises';

const CLEAR = '\u001b[H\u001b[2J\u001b[3J';

/** Never resolves: Ctrl-C ends it. */
export async function watch(read: () => Promise<string>, everyMs: number): Promise<never> {
  let shown: string | undefined;
  for (;;) {
    const text = await read();
    if (text !== shown) process.stdout.write(process.stdout.isTTY ? CLEAR + fit(text) : `${text.trimEnd()}\n`);
    shown = text;
    await sleep(everyMs);
  }
}

function fit(text: string): string {
  const lines = text.split('\n');
  const rows = process.stdout.rows ?? lines.length;
  return lines.length <= rows ? text : lines.slice(0, rows - 1).join('\n');
}
