/** Stored workflows on the command line: apply, run by name, show, schedule, delete. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { workflowName } from '../../src/cli/input/workflow.ts';
import { callHosted } from '../kit/hosted-calls.ts';
import { startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

const stack = new AsyncDisposableStack();
let server: WorkronProcess;
let file: string;

const FILE =
  'name: etl\nparams:\n  day: {}\n  rows: {type: integer, default: 3}\nsteps:\n  load: {command: echo "$WORKRON_PARAM_DAY"}\n';

before(async () => {
  const folder = stack.use(await temporaryFolder()).path;
  file = join(folder, 'etl.yaml');
  const args = ['up', '--port', '0', '--db-url', join(folder, 'jobs.db'), '--log-level', 'warn'];
  server = stack.use(await startWorkron({ args }));
});
after(() => stack.disposeAsync());

async function workron(...args: string[]) {
  return await callHosted(args, { env: { WORKRON_URL: server.url } });
}

async function ok(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await workron(...args);
  assert.equal(code, 0, `workron ${args.join(' ')}: ${stderr}`);
  return stdout.trimEnd();
}

test('workflow names: a file has a slash or an ending, a stored workflow may have a version', () => {
  assert.deepEqual(workflowName('./etl'), { file: './etl' });
  assert.deepEqual(workflowName('etl.yaml'), { file: 'etl.yaml' });
  assert.deepEqual(workflowName('-'), { file: '-' });
  assert.deepEqual(workflowName('etl'), { definition: 'etl', version: null });
  assert.deepEqual(workflowName('etl@3'), { definition: 'etl', version: 3 });
  assert.deepEqual(workflowName('etl@latest'), { definition: 'etl', version: null });
  for (const wrong of ['etl@0', 'etl@x', '@3', 'a@1@2']) assert.throws(() => workflowName(wrong), /neither a file nor/);
});

test('apply, workflow run, show, rm: a stored workflow', async () => {
  await writeFile(file, FILE);
  assert.equal(await ok('apply', file, '--dry-run'), 'workflow etl: version 1 to store');
  assert.equal(await ok('workflow', 'definitions'), 'no stored workflows; workron apply FILE stores one');
  assert.equal(await ok('apply', file), 'workflow etl: version 1 stored');
  assert.equal(await ok('apply', file), 'workflow etl is unchanged: version 1');
  assert.equal(await ok('workflows', 'defs', '-q'), 'etl');
  assert.match(await ok('workflow', 'run', 'etl', '--param', 'day=monday', '--follow'), /^workflow 1 done, after /m);
  const missing = await workron('workflow', 'run', 'etl');
  assert.deepEqual([missing.code, missing.stderr], [2, 'error: --param day: missing: the parameter has no default\n']);
  const wrong = await workron('workflow', 'run', 'etl', '--param', 'day=x', '--param', 'rows=many');
  assert.match(wrong.stderr, /^error: --param rows: expected a whole number/);

  await writeFile(file, FILE.replace('echo', 'echo day'));
  assert.equal(await ok('apply', file), 'workflow etl: version 2 stored');
  const shown = await ok('workflow', 'show', 'etl');
  assert.match(shown, /^etl {2}version 2\nsteps {7}load\nparameter {3}day: string; required\n/);
  assert.match(shown, /^runs {8}100% of the latest are done, .* at the median$/m);
  assert.match(shown, /^ +1 +done +1 /m);
  assert.equal(await ok('workflow', 'show', 'etl@1', '--source'), FILE.trimEnd());
  assert.match(await ok('workflow', 'show', '1'), /^definition {5}etl@1$/m);
  assert.equal(await ok('workflow', 'run', 'etl@1', '--param', 'day=x', '-q'), '2');
  assert.equal(await ok('workflow', 'ls', '--definition', 'etl', '-q'), '2\n1');

  await ok('schedule', 'add', 'nightly', '--cron', '@daily', '--workflow', 'etl', '--param', 'day=x');
  assert.match(await ok('schedules', 'ls'), / workflow etl@latest$/);
  const used = await workron('workflow', 'rm', 'etl');
  assert.deepEqual([used.code, /nightly/.test(used.stderr)], [5, true]);
  await ok('schedule', 'rm', 'nightly');
  assert.equal(await ok('workflow', 'rm', 'etl'), 'stored workflow etl is deleted');
  assert.equal((await workron('workflow', 'show', 'etl')).code, 3);
});

test('apply: a workflow that is not valid is shown with its place', async () => {
  await writeFile(file, FILE.replace('command', 'comand'));
  const { code, stderr } = await workron('apply', file);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /etl\.yaml:6:\d+ error: .*command[\s\S]*\^[\s\S]*is not a valid workflow; nothing was changed\n$/,
  );
});
