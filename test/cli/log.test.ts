/** What a process that serves says about itself: to people on a terminal, to machines everywhere else. */

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { terminalLog } from '../../src/cli/output/terminal-log.ts';
import { WorkronError } from '../../src/core/error.ts';
import type { LogLevel } from '../../src/ops/log-level.ts';
import { plainEnvironment } from '../kit/command-line.ts';
import { endOnExit } from '../kit/end-on-exit.ts';
import { CLONE } from '../kit/program.ts';

function watch(level: LogLevel) {
  const lines: string[] = [];
  const write = (text: string) => lines.push(stripVTControlCharacters(text));
  const now = () => new Date(2026, 10, 16, 3, 4, 5);
  return { lines, log: terminalLog(level, { write, now }) };
}

test('log: on a terminal each is a line with time, level, sentence and what it is about', () => {
  const { log, lines } = watch('info');
  log.debug({ job_id: 1 }, 'not shown');
  log.info({ instance_id: 'a1', roles: ['api', 'worker'], url: undefined, token: null }, 'started');
  log.child({ worker: 'w' }).warn({ counts: { done: 1 } }, 'slow');
  log.error({ schedule: 'x\u001b[2J\ny' }, 'from\na job');
  assert.deepEqual(lines, [
    '03:04:05 info  started  instance_id=a1 roles=api,worker\n',
    '03:04:05 warn  slow  worker=w counts={"done":1}\n',
    '03:04:05 error from a job  schedule=x [2J y\n',
  ]);
  const silent = watch('silent');
  silent.log.error({}, 'nothing');
  assert.deepEqual(silent.lines, []);
});

test('log: on a terminal a mistake of ours says where it happened, what the world did only what it was', () => {
  const { log, lines } = watch('warn');
  log.error({ error: new Error('broken') }, 'loop tick failed');
  log.error({ error: new WorkronError('store_unavailable', 'no database') }, 'loop tick failed');
  const [ours = '', theirs] = lines;
  assert.match(ours, /^03:04:05 error loop tick failed {2}error=broken\n {4}at .*cli\/log\.test\.ts/);
  assert.equal(theirs, '03:04:05 error loop tick failed  error=no database\n');
});

const script = spawnSync('script', ['--version']).status === 0;

test('log: `up` on a terminal logs for people', {
  skip: script ? false : 'no script(1) to make a terminal',
  timeout: 60_000,
}, async ({ signal }) => {
  const child = spawn('script', ['-qefc', `exec ${CLONE} up --db-driver memory --port 0`, '/dev/null'], {
    env: plainEnvironment({ NO_COLOR: '1' }),
    stdio: ['pipe', 'pipe', 'inherit'],
    signal,
  });
  endOnExit('process', child);
  const ended = once(child, 'exit');
  let text = '';
  let interrupted = false;
  for await (const part of child.stdout.setEncoding('utf8')) {
    text += String(part);
    if (!interrupted && / started [^\n]*\n/.test(text)) interrupted = child.stdin.write('\u0003');
    // Until then the terminal stays open.
    if (/ stopped [^\n]*\n/.test(text)) child.stdin.end();
  }
  await ended;
  // Tests that kill workers leave commands to the next worker on this machine, which says so before.
  assert.match(text.replace(/^.* ended commands that a previous worker left behind .*\r\n/, ''), /^Workron is up: /);
  assert.match(text, /^\d\d:\d\d:\d\d info {2}started {2}instance_id=\S+ roles=api,scheduler,worker store=memory/m);
  assert.match(text, /^(\^C)?\d\d:\d\d:\d\d info {2}shutting down.*signal=SIGINT/m);
  assert.match(text, /info {2}stopped/);
  assert.doesNotMatch(text, /^\{/m);
});
