/** The command line against a real Workron: workflows, and jobs that wait for others. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Called, startCall } from '../kit/command-line.ts';
import { eventually } from '../kit/eventually.ts';
import { callHosted } from '../kit/hosted-calls.ts';
import { api, startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

const stack = new AsyncDisposableStack();
let server: WorkronProcess;
let folder: string;

const FLOW = `name: flow
params: {word: {default: hello}, list: {type: list, default: [a, b]}, code: {type: integer, default: 0}}
steps:
  say: {command: 'echo "said=$WORKRON_PARAM_WORD" >> "$WORKRON_OUTPUT"'}
  each: {depends_on: say, for_each: {param: list}, command: 'echo "$WORKRON_PARENT_SAY_SAID $WORKRON_ITEM"'}
  end: {depends_on: each, max_attempts: 1, command: 'echo the end; exit "$WORKRON_PARAM_CODE"'}
  alert: {depends_on: end, if: failure, command: 'true'}
`;

before(async () => {
  folder = stack.use(await temporaryFolder()).path;
  const args = ['up', '--port', '0', '--workers', '4', '--db-url', join(folder, 'jobs.db'), '--log-level', 'warn'];
  server = stack.use(await startWorkron({ args }));
  await writeFile(join(folder, 'flow.yaml'), FLOW);
  await writeFile(
    join(folder, 'slow.yaml'),
    'name: slow\nsteps: {nap: {command: sleep 600}, next: {command: "true", depends_on: nap}}\n',
  );
  // It takes its time when it is asked to stop, so that one can see it being stopped.
  const lingers = `trap 'sleep 2; exit 1' TERM; sleep 600 & wait`;
  await writeFile(
    join(folder, 'lingering.yaml'),
    `name: slow\nsteps: {nap: {command: "${lingers}"}, next: {command: "true", depends_on: nap}}\n`,
  );
});
after(() => stack.disposeAsync());

function workron(...args: string[]): Promise<Called> {
  return callHosted(args, { env: { WORKRON_URL: server.url }, cwd: folder });
}

async function ok(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await workron(...args);
  assert.equal(code, 0, `workron ${args.join(' ')}: ${stderr}`);
  return stdout.replace(/\n$/, '');
}

function workflowOf(id: string): Promise<{ status: string; steps: { key: string; status: string; job_id: string }[] }> {
  return api(server.url, `/workflows/${id}`);
}

describe('command line', { concurrency: 2 }, () => {
  test('workflow run: follows the steps line by line in a pipe, and ends with 0', async () => {
    const { code, stdout, stderr } = await workron('workflow', 'run', 'flow.yaml', '--param', 'list=x,y,z', '--follow');
    assert.equal(code, 0, stderr);
    const lines = stdout.split('\n').filter((line) => !line.endsWith(': running'));
    assert.match(lines.shift() ?? '', /^say: done {2}\S+$/);
    assert.match(lines.shift() ?? '', /^each: done {2}\S+ {2}3\/3 items$/);
    assert.match(lines.shift() ?? '', /^end: done {2}\S+$/);
    assert.equal(lines.shift(), 'alert: skipped  (its condition was not met)');
    assert.match(lines.shift() ?? '', /^workflow \d+ done, after \S+$/);
    assert.match(stderr, /^workflow \d+\n$/);
  });

  test('workflow run: a failed step ends it with 1, and says why', async () => {
    const { code, stdout } = await workron('workflow', 'run', 'flow.yaml', '--param', 'code=3', '-f');
    assert.equal(code, 1);
    assert.match(stdout, /^end: failed {2}\S+ {2}exit 3: the end$/m);
    assert.match(stdout, /^alert: done/m);
    assert.match(stdout, /^workflow \d+ failed, after /m);
  });

  test('workflow run: -q prints the id, --json the object of the API; a key submits once', async () => {
    const id = await ok('workflow', 'run', 'flow.yaml', '-q', '--idempotency-key', 'once');
    assert.match(id, /^\d+$/);
    assert.equal(await ok('workflow', 'run', 'flow.yaml', '-q', '--idempotency-key', 'once'), id);
    assert.equal(await ok('workflow', 'get', '-q', '-f', id), '');
    const followed = JSON.parse(await ok('workflow', 'run', 'flow.yaml', '--json', '-f')) as { id: string };
    assert.deepEqual(followed, await workflowOf(followed.id));
    assert.deepEqual(JSON.parse(await ok('workflow', 'get', '--json', followed.id)), followed);
  });

  test('workflow run: nothing is submitted where file or parameters are wrong', async () => {
    await writeFile(join(folder, 'wrong.yaml'), 'name: x\nsteps:\n  a: {comand: y}\n');
    const wrong = await workron('workflow', 'run', 'wrong.yaml');
    assert.deepEqual([wrong.code, wrong.stdout], [2, '']);
    assert.match(wrong.stderr, /^wrong\.yaml:3:7 error: .*did you mean "command"/);
    for (const [flags, message] of [
      [['--param', 'wrod=x'], /^error: --param wrod: unknown parameter; did you mean word\?$/m],
      [['--param', 'code=x'], /^error: --param code: expected a whole number/m],
      [['--param', 'code=x', '--param', 'wrod=x'], /^error: --param wrod: [^\n]*\n {7}--param code: /m],
      [['--param', 'code'], /expected NAME=VALUE/],
    ] as const) {
      const { code, stderr } = await workron('workflow', 'run', 'flow.yaml', ...flags);
      assert.equal(code, 2);
      assert.match(stderr, message);
    }
    assert.equal((await workron('workflow', 'run', 'missing.yaml')).code, 2);
  });

  test('workflow: ls, get, cancel, retry, rerun', async () => {
    const id = await ok('workflow', 'run', 'lingering.yaml', '-q');
    await eventually(async () => (await workflowOf(id)).steps[0]?.status === 'running');
    assert.match(
      await ok('workflow', 'get', id),
      /^slow {2}workflow \d+ {2}running .*\n└─ nap {2}running .*\n {3}└─ next/,
    );
    assert.match(
      await ok('workflow', 'ls', '--name', 'slow', '--status', 'running'),
      new RegExp(`^ *${id} +running`, 'm'),
    );
    assert.equal(await ok('workflow', 'ls', '-q', '--name', 'nobody'), '');
    assert.equal(await ok('workflow', 'cancel', id), `workflow ${id} is being stopped`);
    const ended = await workron('workflow', 'get', '-f', id);
    assert.equal(ended.code, 1);
    // The step that waits and the one that runs end at about the same time.
    for (const step of ['next', 'nap']) assert.match(ended.stdout, new RegExp(`^${step}: cancelled`, 'm'));
    assert.match(ended.stdout, /\nworkflow \d+ cancelled.*\n?$/);
    // Steps that were cancelled or skipped are not counted as done.
    assert.match(await ok('workflow', 'ls', '--name', 'slow'), new RegExp(`^ *${id} +cancelled +slow +0/\\d`, 'm'));
    assert.match(await ok('jobs', '--workflow', id), /cancelled +next/);

    const { job_id: nap } = (await workflowOf(id)).steps[0] as { job_id: string };
    assert.match(await ok('job', nap), new RegExp(`^workflow +${id}, step nap$`, 'm'));
    assert.match(await ok('workflow', 'retry', id), new RegExp(`^workflow ${id} `));
    const rerun = await ok('workflow', 'rerun', id, '--from', 'nap', '--only', '-q');
    assert.deepEqual(
      (await workflowOf(rerun)).steps.map(({ key }) => key),
      ['nap'],
    );
    assert.match(await ok('workflow', 'ls'), new RegExp(`rerun of ${id}$`, 'm'));
    for (const one of [id, rerun]) await api(server.url, `/workflows/${one}/cancel`, {});
    assert.equal((await workron('workflow', 'rerun', id, '--from', 'nothing')).code, 3);
    assert.equal((await workron('workflow', 'rerun', id)).code, 2);
    assert.equal((await workron('workflow', 'get', '999999')).code, 3);
    assert.equal((await workron('workflow', 'get', 'x')).code, 2);
  });

  test('workflow run --follow: two Ctrl-C cancel it', async () => {
    const call = startCall(['workflow', 'run', 'slow.yaml', '-f'], { env: { WORKRON_URL: server.url }, cwd: folder });
    let stderr = '';
    call.stderr?.on('data', (data: Buffer) => {
      stderr += data.toString();
    });
    const exited = once(call, 'exit');
    await once(call.stdout as NodeJS.EventEmitter, 'data');
    call.kill('SIGINT');
    await eventually(() => stderr.includes('press Ctrl-C again'));
    call.kill('SIGINT');
    assert.deepEqual(await exited, [130, null]);
    const id = /workflow (\d+)/.exec(stderr)?.[1] as string;
    assert.equal((await workflowOf(id)).status, 'cancelled');
    assert.match(stderr, new RegExp(`goes on: workron workflow get -f ${id}\n`));
  });

  test('logs: a step by its workflow, all steps of a workflow, and those that failed; get names their jobs', async () => {
    const id = await ok('workflow', 'run', 'flow.yaml', '-q', '--param', 'code=3');
    assert.equal((await workron('workflow', 'get', id, '--follow')).code, 1);
    const shown = await ok('workflow', 'get', id);
    const [, job] = /end {2}failed {2}#(\d+) /.exec(shown) ?? [];
    assert.match(shown, new RegExp(`^output +workron workflow logs ${id} --failed$`, 'm'));
    assert.equal(await ok('logs', `${id}/end`), 'the end');
    assert.equal(await ok('logs', job as string), 'the end');
    assert.equal(await ok('workflow', 'logs', id, '--failed'), 'end | the end');
    assert.equal(await ok('workflow', 'logs', id, '--failed', '-f'), 'end | the end');
    assert.equal(await ok('workflow', 'logs', id), '  end | the end');
    const none = await workron('logs', `${id}/ned`);
    assert.deepEqual(
      [none.code, none.stderr],
      [3, `error: workflow ${id} has no step "ned"\nhint: did you mean end?\n`],
    );
    assert.equal((await workron('logs', 'flow/end')).code, 2);
    const done = await ok('workflow', 'run', 'flow.yaml', '-q', '-f');
    assert.match(
      (await workron('workflow', 'logs', done.split('\n')[0] as string, '--failed')).stderr,
      /^no step has failed\n$/,
    );
  });

  test('submit: --depends-on waits for other jobs, for the end that it names', async () => {
    const { id: held } = await api<{ id: string }>(server.url, '/jobs', { command: 'true', delay: '1h' });
    const [then, rescue, always] = [
      await ok('submit', '-q', '--depends-on', held, '--', 'true'),
      await ok('submit', '-q', '--depends-on', `${held}:failure`, '--', 'true'),
      await ok('submit', '-q', '--depends-on', `#${held}:ended`, '--', 'true'),
    ];
    assert.match(await ok('job', rescue), new RegExp(`^after +${held} \\(failure\\)$`, 'm'));
    assert.match(await ok('why', then), new RegExp(`^job ${then} is blocked: .*${held}`));
    await api(server.url, `/jobs/${held}/cancel`, {});
    await eventually(async () => (await api<{ status: string }>(server.url, `/jobs/${always}`)).status === 'done');
    assert.equal(await ok('why', then), `job ${then} was cancelled`);
    const { code, stderr } = await workron('submit', '--depends-on', '999999', '--', 'true');
    assert.equal(code, 2);
    assert.match(stderr, /999999/);
    assert.equal((await workron('submit', '--depends-on', 'x', '--', 'true')).code, 2);
  });

  test('why: a skipped job names those it waited for', async () => {
    const { id: bad } = await api<{ id: string }>(server.url, '/jobs', { command: 'exit 1', max_attempts: 1 });
    const then = await ok('submit', '-q', '--depends-on', bad, '--', 'true');
    await eventually(async () => (await api<{ status: string }>(server.url, `/jobs/${then}`)).status === 'skipped');
    const skipped = `was skipped: an upstream job failed; it runs after`;
    assert.equal(await ok('why', then), `job ${then} ${skipped} ${bad}; job ${bad} failed: exit 1`);
    const last = await ok('submit', '-q', '--depends-on', then, '--', 'true');
    await eventually(async () => (await api<{ status: string }>(server.url, `/jobs/${last}`)).status === 'skipped');
    assert.equal(await ok('why', last), `job ${last} ${skipped} ${then}; job ${bad} failed: exit 1`, 'the root');
  });

  test('workflow ls: notes the step that failed first, and its line', async () => {
    const steps = [
      { key: 'load', command: 'echo no table >&2; exit 7', max_attempts: 1 },
      { key: 'next', command: 'true', depends_on: ['load'] },
    ];
    const { id } = await api<{ id: string }>(server.url, '/workflows', { name: 'noted', steps });
    await eventually(async () => (await api<{ status: string }>(server.url, `/workflows/${id}`)).status === 'failed');
    assert.match(await ok('workflow', 'ls', '--name', 'noted'), /load: exit 7: no table$/m);
  });
});
