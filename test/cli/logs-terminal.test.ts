/** What a job printed, for somebody who sits at a terminal. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { plainEnvironment } from '../kit/command-line.ts';
import { CLONE } from '../kit/program.ts';
import { api, startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const script = spawnSync('script', ['--version']).status === 0;
/** Writes to the clipboard, clears the screen, turns the direction of text. */
const PRINTED = '\u001b]52;c;cm0gLXJm\u0007\u001b[2J\u009b2J\u202eexe.txt \u001b[31mred\u001b[0m\n';
const VISIBLE = '␛]52;c;cm0gLXJm␇␛[2J�2J�exe.txt \u001b[31mred\u001b[0m\n';

test('logs: nothing reaches a terminal that it would obey, also through a pipe; files and --raw get the bytes', {
  skip: script ? false : 'no script(1) to make a terminal',
  timeout: 60_000,
}, async () => {
  await using folder = await temporaryFolder();
  await using up = await startWorkron({ args: ['up', '--port', '0', '--db-url', 'memory:', '--log-level', 'warn'] });
  const { id } = await api<{ id: string }>(up.url, '/jobs', { command: 'cat', input: PRINTED });
  await api(up.url, `/jobs/${id}/wait?timeout=30s`);
  const atTerminal = (line: string): string => {
    const env = plainEnvironment({ WORKRON_URL: up.url, NO_COLOR: '1' });
    const { stdout } = spawnSync('script', ['-qefc', line.replace('workron', CLONE), '/dev/null'], { env });
    return stdout.toString().replaceAll('\r\n', '\n');
  };
  assert.equal(atTerminal(`workron logs ${id}`), VISIBLE);
  const piped = atTerminal(`workron logs ${id} | cat`);
  assert.ok(piped.includes(VISIBLE), piped);
  assert.match(piped, /control characters were made visible; --raw keeps them/);
  assert.equal(atTerminal(`workron logs --raw ${id} | cat`), PRINTED);
  const file = join(folder.path, 'output');
  atTerminal(`workron logs ${id} > ${file}`);
  assert.equal(await readFile(file, 'utf8'), PRINTED);
  assert.equal(atTerminal(`workron logs ${id} 2>/dev/null | cat`), PRINTED, 'as a script without a terminal gets it');
});
