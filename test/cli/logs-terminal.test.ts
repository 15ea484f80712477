/** What a job printed, for somebody who sits at a terminal. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { plainEnvironment } from '../kit/command-line.ts';
import { eventually } from '../kit/eventually.ts';
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
  const silent = await api<{ id: string }>(up.url, '/jobs', { command: 'true' });
  await api(up.url, `/jobs/${silent.id}/wait?timeout=30s`);
  assert.equal(atTerminal(`workron logs ${silent.id}`), `job ${silent.id} printed nothing\n`);
  const later = await api<{ id: string }>(up.url, '/jobs', { command: 'true', delay: '1h' });
  assert.equal(atTerminal(`workron logs ${later.id}`), `job ${later.id} is scheduled and has printed nothing yet\n`);
  assert.equal(atTerminal(`workron logs ${silent.id} | cat`), '', 'a pipe gets the output and nothing else');
  const piped = atTerminal(`workron logs ${id} | cat`);
  assert.ok(piped.includes(VISIBLE), piped);
  assert.match(piped, /control characters were made visible; --raw keeps them/);
  assert.equal(atTerminal(`workron logs --raw ${id} | cat`), PRINTED);
  const file = join(folder.path, 'output');
  atTerminal(`workron logs ${id} > ${file}`);
  assert.equal(await readFile(file, 'utf8'), PRINTED);
  assert.equal(atTerminal(`workron logs ${id} 2>/dev/null | cat`), PRINTED, 'as a script without a terminal gets it');
});

test('open: logs in on the machine of the server, by a link that no other user sees among the processes', {
  skip: script ? false : 'no script(1) to make a terminal',
  timeout: 60_000,
}, async () => {
  await using folder = await temporaryFolder();
  const own = {
    XDG_STATE_HOME: join(folder.path, 'state'),
    PATH: `${folder.path}:${process.env['PATH']}`,
  };
  const env = plainEnvironment(own);
  // The browser keeps what it was given.
  await writeFile(join(folder.path, 'xdg-open'), `#!/bin/sh\necho "$1" > ${folder.path}/opened\n`, { mode: 0o755 });
  await using up = await startWorkron({
    args: ['up', '--port', '0', '--db-url', 'memory:', '--log-level', 'warn'],
    env: own,
    ownToken: true,
  });
  const { stdout } = spawnSync('script', ['-qefc', `${CLONE} open 12 --url ${up.url}`, '/dev/null'], { env });
  const [, code] = /^http:\S+\/ui\/jobs\/12#link=([\w-]+)\r\n$/.exec(stdout.toString()) ?? [];
  assert.ok(code, stdout.toString());
  const file = await eventually(async () =>
    (await readFile(join(folder.path, 'opened'), 'utf8').catch(() => '')).trim(),
  );
  assert.ok((await readFile(file, 'utf8')).includes(`content="0;url=${up.url}/ui/jobs/12#link=${code}"`));
  assert.equal((await stat(file)).mode & 0o077, 0);
  const logIn = () => fetch(`${up.url}/session`, { method: 'POST', headers: { authorization: `Bearer ${code}` } });
  assert.equal((await logIn()).status, 200);
  assert.equal((await logIn()).status, 401, 'once');
  const piped = spawnSync(CLONE, ['open', '--url', up.url], { env });
  assert.equal(piped.stdout.toString(), `${up.url}/ui/\n`, 'a pipe gets the plain address');
});
