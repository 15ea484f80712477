/** Shows a changing text: in place on a terminal, one version after the other in a pipe. */

import { setTimeout as sleep } from 'node:timers/promises';
import { CliError, EXIT } from '../errors/cli-error.ts';

/** Clears the screen; earlier output stays in the scrollback. */
const CLEAR = '\u001b[2J';
const HOME = '\u001b[H';
const REST_OF_LINE = '\u001b[K';
const REST_OF_SCREEN = '\u001b[J';

/** Never resolves: Ctrl-C ends it. The first read must succeed; later an unreachable server is retried. */
export async function watch(read: () => Promise<string>, everyMs: number): Promise<never> {
  const { stdout, stderr } = process;
  let latest = await read();
  let shown: string | undefined;
  let trouble = '';
  if (stdout.isTTY) stdout.write(CLEAR);
  for (;;) {
    const text = stdout.isTTY ? `${trouble}${latest}` : latest;
    if (text !== shown) stdout.write(stdout.isTTY ? HOME + inPlace(text) : `${text.trimEnd()}\n`);
    shown = text;
    await sleep(everyMs);
    try {
      latest = await read();
      trouble = '';
    } catch (error) {
      if (!(error instanceof CliError) || error.exitCode !== EXIT.unreachable) throw error;
      const news = `${error.message}; trying again\n`;
      if (!stdout.isTTY && news !== trouble) stderr.write(news);
      trouble = news;
    }
  }
}

function inPlace(text: string): string {
  const lines = text.split('\n');
  const rows = process.stdout.rows ?? lines.length;
  const fitting = lines.length <= rows ? lines : lines.slice(0, rows - 1);
  return fitting.join(`${REST_OF_LINE}\n`) + REST_OF_LINE + REST_OF_SCREEN;
}
