/** Dependencies and workflows over the wire. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '../../src/api/client.ts';
import { JobDetail } from '../../src/api/job.ts';
import { Workflow, WorkflowDetail, WorkflowPage } from '../../src/api/workflow/workflow.ts';
import { eventually } from '../kit/eventually.ts';
import { openTestServer, type TestServer } from '../kit/http.ts';

interface Claimed {
  id: string;
  attempt: number;
  run_context: unknown;
  command: string;
}

/** A worker by curl: claims, and settles as asked. */
class Hand {
  readonly #server: TestServer;
  readonly #worker: string;

  private constructor(server: TestServer, worker: string) {
    this.#server = server;
    this.#worker = worker;
  }

  static async at(server: TestServer): Promise<Hand> {
    return new Hand(server, (await server.call('POST', '/workers/register', { name: 'w' })).body.worker_id);
  }

  async claim(limit = 10, more: object = {}): Promise<Claimed[]> {
    const request = { worker_id: this.#worker, limit, wait: '10s', ...more };
    return (await this.#server.call('POST', '/jobs/claim', request)).body.items;
  }

  async settle({ id, attempt }: Claimed, outcome: object): Promise<void> {
    const { body } = await this.#server.call('POST', `/workers/${this.#worker}/settle`, {
      items: [{ job_id: id, attempt, outcome }],
    });
    assert.equal(body.items[0].result, 'ok');
  }

  async done(job: Claimed, result?: unknown): Promise<void> {
    await this.settle(job, { type: 'succeeded', ...(result === undefined ? {} : { result }) });
  }

  async fail(job: Claimed): Promise<void> {
    await this.settle(job, { type: 'failed', exit_code: 1, error: 'exit 1', fatal: true });
  }
}

async function statuses(server: TestServer, id: string): Promise<Record<string, string>> {
  const { body } = await server.call('GET', `/workflows/${id}`);
  return Object.fromEntries(body.steps.map((step: { key: string; status: string }) => [step.key, step.status]));
}

async function untilStatus(server: TestServer, id: string, status: string): Promise<void> {
  await eventually(async () => (await server.call('GET', `/workflows/${id}`)).body.status === status);
}

test('workflow: a step that is a gang has its members as items, and a rerun makes a new gang', async () => {
  await using server = await openTestServer();
  const gang = { size: 2, on_member_failure: 'restart' };
  const steps = [{ key: 'train', command: 'true', gang, max_attempts: 2 }];
  const { body } = await server.call('POST', '/workflows', { name: 'x', steps });
  const membersOf = async (id: string) =>
    await eventually(async () => {
      const { items } = (await server.call('GET', `/jobs?workflow_id=${id}&status=pending`)).body;
      return items.length === 2 && items;
    });
  const members = await membersOf(body.id);
  assert.deepEqual(
    members.map((job: { index: number; gang: { rank: number }; max_attempts: number }) => [
      job.index,
      job.gang.rank,
      job.max_attempts,
    ]),
    [
      [1, 1, 2],
      [0, 0, 2],
    ],
  );
  const [{ gang: first, tags }] = members;
  assert.deepEqual([tags, first.size], [[`gang:${first.id}`], 2]);
  await server.call('POST', `/workflows/${body.id}/cancel`);
  await untilStatus(server, body.id, 'cancelled');
  const again = await server.call('POST', `/workflows/${body.id}/rerun`, { from: 'train' });
  const [{ gang: second }] = await membersOf(again.body.id);
  assert.notEqual(second.id, first.id);
});

test('depends_on: a job waits for others, and both sides of the wire say so', async () => {
  await using server = await openTestServer();
  const hand = await Hand.at(server);
  const { body: parents } = await server.call('POST', '/jobs', [
    { command: 'a', max_attempts: 1 },
    { command: 'b', max_attempts: 1 },
  ]);
  const [a, b] = parents.items.map(({ id }: { id: string }) => id);
  const { status, body } = await server.call('POST', '/jobs', {
    command: 'child',
    depends_on: [a, { job: b, if: 'failure' }],
  });
  assert.deepEqual([status, body.status], [201, 'blocked']);
  const { body: read } = await server.call('GET', `/jobs/${body.id}`);
  assert.deepEqual(JobDetail.parse(read), read);
  assert.deepEqual(read.depends_on, [
    { job: a, if: 'success' },
    { job: b, if: 'failure' },
  ]);
  const none = [read.workflow_id, read.step, read.group_id, read.index, read.rerun_of, read.continue_on_failure];
  assert.deepEqual(none, [null, null, null, null, null, false]);
  const [first, second] = (await hand.claim()) as [Claimed, Claimed];
  assert.equal(first.run_context, null);
  await hand.done(first, { rows: 3 });
  await hand.fail(second);
  const [child] = (await hand.claim()) as [Claimed];
  assert.deepEqual(child.run_context, {
    workflow: null,
    params: {},
    item: null,
    parents: [
      { job_id: a, key: a, status: 'done', result: { rows: 3 } },
      { job_id: b, key: b, status: 'failed', result: null },
    ],
  });
});

test('depends_on: unknown ids are reported and nothing is stored, also for an array', async () => {
  await using server = await openTestServer();
  const one = await server.call('POST', '/jobs', { command: 'a', depends_on: ['41', { job: '42' }] });
  assert.deepEqual([one.status, one.body.code], [400, 'dependency_unknown']);
  assert.match(one.body.detail, /41/);
  assert.match(one.body.detail, /42/);
  const many = await server.call('POST', '/jobs', [{ command: 'a' }, { command: 'b', depends_on: ['43'] }]);
  assert.deepEqual([many.status, many.body.code], [400, 'dependency_unknown']);
  assert.deepEqual((await server.call('GET', '/jobs')).body.items, []);
});

const BAD_DEPENDENCIES: [string, unknown, string, RegExp][] = [
  ['text', '1', '/depends_on', /array/],
  ['a number', [1], '/depends_on/0', /expected a job id/],
  ['no id', ['x'], '/depends_on/0', /expected a job id/],
  ['an unknown condition', [{ job: '1', if: 'never' }], '/depends_on/0', /expected a job id/],
  ['a job twice', ['1', { job: '1', if: 'ended' }], '/depends_on', /once/],
];

for (const [name, depends_on, pointer, detail] of BAD_DEPENDENCIES) {
  test(`depends_on: ${name} is refused`, async () => {
    await using server = await openTestServer();
    const { status, body } = await server.call('POST', '/jobs', { command: 'a', depends_on });
    assert.deepEqual([status, body.code, body.errors[0].pointer], [400, 'bad_request', pointer]);
    assert.match(body.errors[0].detail, detail);
  });
}

test('cancel: descendants that can no longer run are cancelled too, unless cascade is none', async () => {
  await using server = await openTestServer();
  const submit = async (more: object = {}): Promise<string> =>
    (await server.call('POST', '/jobs', { command: 'a', delay: '1h', ...more })).body.id;
  const statusOf = async (id: string) => {
    const { body } = await server.call('GET', `/jobs/${id}`);
    return [body.status, body.reason];
  };
  const [one, other] = [await submit(), await submit()];
  const [child, skipped] = [await submit({ depends_on: [one] }), await submit({ depends_on: [other] })];
  const grandchild = await submit({ depends_on: [child] });
  assert.equal((await server.call('POST', `/jobs/${one}/cancel`)).status, 200);
  assert.deepEqual(await statusOf(child), ['cancelled', 'cancelled']);
  await eventually(async () => (await statusOf(grandchild))[0] === 'cancelled');
  assert.equal((await server.call('POST', `/jobs/${other}/cancel`, { cascade: 'none' })).status, 200);
  assert.deepEqual(await statusOf(skipped), ['skipped', 'upstream_failed']);
  assert.equal((await server.call('POST', `/jobs/${other}/cancel`, { cascade: 'all' })).status, 400);
});

const STEPS = [
  { key: 'load', command: 'load', depends_on: 'extract', for_each: { output: 'extract.files' }, max_parallel: 2 },
  { key: 'extract', command: 'extract' },
  { key: 'alert', command: 'alert', depends_on: ['extract', 'load'], if: 'failure' },
  { key: 'tidy', command: 'tidy', depends_on: ['alert', 'load'], if: 'ended', continue_on_failure: true },
];

test('workflow: from submission to its end, with items, results and skipped steps', async () => {
  await using server = await openTestServer();
  const hand = await Hand.at(server);
  const params = { date: '2026-01-31', regions: ['eu', 'us'], tries: 3 };
  const { status, headers, body } = await server.call('POST', '/workflows', { name: 'etl', params, steps: STEPS });
  assert.deepEqual([status, headers.get('location')], [201, `/workflows/${body.id}`]);
  assert.deepEqual(Workflow.parse(body), body);
  assert.deepEqual([body.status, body.params, body.step_counts.total], ['pending', params, 4]);

  const [extract] = (await hand.claim()) as [Claimed];
  assert.deepEqual(extract.run_context, {
    workflow: { id: body.id, step: 'extract' },
    params,
    item: null,
    parents: [],
  });
  await hand.done(extract, { files: ['a', { b: 1 }, 'c'] });
  const items = await hand.claim();
  assert.deepEqual(
    items.map(({ run_context }) => (run_context as { item: unknown }).item),
    [
      { value: 'a', index: 0 },
      { value: { b: 1 }, index: 1 },
    ],
  );
  const { body: half } = await server.call('GET', `/workflows/${body.id}`);
  assert.deepEqual(WorkflowDetail.parse(half), half);
  assert.deepEqual(
    half.steps.map(({ key, depends_on }: { key: string; depends_on: string[] }) => [key, depends_on]),
    [
      ['extract', []],
      ['load', ['extract']],
      ['alert', ['extract', 'load']],
      ['tidy', ['load', 'alert']],
    ],
  );
  const group = half.steps[1];
  assert.deepEqual([group.status, group.group.total, group.group.open, group.group.max_parallel], ['running', 3, 2, 2]);
  const { body: listed } = await server.call('GET', `/jobs?group_id=${group.job_id}`);
  assert.deepEqual(
    listed.items.map((job: Record<string, unknown>) => [job['step'], job['index'], job['workflow_id']]),
    [
      ['load', 1, body.id],
      ['load', 0, body.id],
    ],
  );
  for (const item of items) await hand.done(item, { lines: 2 });
  const [last] = (await hand.claim()) as [Claimed];
  await hand.done(last);
  const [tidy] = (await hand.claim()) as [Claimed];
  assert.deepEqual((tidy.run_context as { parents: unknown[] }).parents, [
    { job_id: group.job_id, key: 'load', status: 'done', result: [{ lines: 2 }, { lines: 2 }, null] },
    { job_id: half.steps[2].job_id, key: 'alert', status: 'skipped', result: null },
  ]);
  await hand.fail(tidy);
  const { body: end } = await server.call('GET', `/workflows/${body.id}`);
  assert.deepEqual([end.status, end.step_counts.fine], ['done', 4]);
  // Whether the skipped step lies on the path is a matter of a millisecond.
  const path = end.critical_path.filter((key: string) => key !== 'alert');
  assert.deepEqual(path, ['extract', 'load', 'tidy']);
  assert.deepEqual([end.steps[2].status, end.steps[2].reason], ['skipped', 'condition']);
  assert.notEqual(end.ended_at, null);
  assert.equal((await server.call('GET', `/jobs?workflow_id=${body.id}`)).body.items.length, 7);
});

/** A list of forty items is there to be claimed, beside which its step left a megabyte. */
async function expandLarge(server: TestServer, hand: Hand): Promise<void> {
  const steps = [
    { key: 'list', command: 'x' },
    { key: 'each', command: 'x', depends_on: 'list', for_each: { output: 'list.items' } },
  ];
  const { body } = await server.call('POST', '/workflows', { name: 'large', steps });
  const items = Array.from({ length: 40 }, (_, index) => index);
  await hand.done(((await hand.claim()) as [Claimed])[0], { items, ballast: 'x'.repeat(1_000_000) });
  await eventually(
    async () => (await server.call('GET', `/workflows/${body.id}`)).body.steps[1].group?.inserted === 40,
  );
}

test('workflow: a claim answers with no more than can be read; the rest stays claimable', async () => {
  await using server = await openTestServer();
  const hand = await Hand.at(server);
  await expandLarge(server, hand);
  const first = await hand.claim(40);
  const second = await hand.claim(40);
  assert.deepEqual([first.length, second.length], [33, 7]);
  assert.equal(new Set([...first, ...second].map(({ id }) => id)).size, 40);
});

test('workflow: what is large in a result goes out once with a claim that asks for that', async () => {
  await using server = await openTestServer();
  const hand = await Hand.at(server);
  await expandLarge(server, hand);
  const claimed = await hand.claim(40, { results_once: true });
  const parents = claimed.map((job) => (job.run_context as { parents: Record<string, unknown>[] }).parents[0]);
  assert.deepEqual(
    parents.map((parent) => Object.hasOwn(parent ?? {}, 'result')),
    Array.from({ length: 40 }, (_, index) => index === 0),
  );
  assert.equal(new Set(parents.map((parent) => parent?.['job_id'])).size, 1);
});

test('workflow: cancel, retry, rerun from a step', async () => {
  await using server = await openTestServer();
  const hand = await Hand.at(server);
  const chain = ['a', 'b', 'c'].map((key, index, keys) => ({
    key,
    command: key,
    max_attempts: 1,
    ...(index === 0 ? {} : { depends_on: keys[index - 1] }),
  }));
  const { body: workflow } = await server.call('POST', '/workflows', { name: 'w', params: { p: 1 }, steps: chain });
  const [a] = (await hand.claim()) as [Claimed];
  await hand.done(a, { made: 'x' });
  const [b] = (await hand.claim()) as [Claimed];
  const stopping = await server.call('POST', `/workflows/${workflow.id}/cancel`);
  assert.deepEqual([stopping.status, stopping.body.status], [202, 'running']);
  await hand.settle(b, { type: 'cancelled' });
  await untilStatus(server, workflow.id, 'cancelled');
  assert.deepEqual(await statuses(server, workflow.id), { a: 'done', b: 'cancelled', c: 'cancelled' });

  const retried = await server.call('POST', `/workflows/${workflow.id}/retry`);
  assert.deepEqual([retried.status, retried.body.status], [200, 'running']);
  assert.deepEqual(await statuses(server, workflow.id), { a: 'done', b: 'pending', c: 'blocked' });
  const [again] = (await hand.claim()) as [Claimed];
  await hand.fail(again);
  await untilStatus(server, workflow.id, 'failed');

  const rerun = await server.call('POST', `/workflows/${workflow.id}/rerun`, { from: 'b' });
  assert.deepEqual([rerun.status, rerun.body.rerun_of, rerun.body.params], [201, workflow.id, { p: 1 }]);
  assert.deepEqual(await statuses(server, rerun.body.id), { a: 'done', b: 'pending', c: 'blocked' });
  const [repeated] = (await hand.claim()) as [Claimed];
  const [kept] = (repeated.run_context as { parents: { key: string; result: unknown }[] }).parents;
  assert.deepEqual([kept?.key, kept?.result], ['a', { made: 'x' }]);
  await hand.done(repeated);
  await hand.done(((await hand.claim()) as [Claimed])[0]);
  await untilStatus(server, rerun.body.id, 'done');

  const only = await server.call('POST', `/workflows/${rerun.body.id}/rerun`, { from: 'b', only: true });
  assert.deepEqual(await statuses(server, only.body.id), { a: 'done', b: 'pending' });
  const unknown = await server.call('POST', `/workflows/${workflow.id}/rerun`, { from: 'x' });
  assert.deepEqual([unknown.status, unknown.body.code], [404, 'step_not_found']);
  const nothing = await server.call('POST', `/workflows/${rerun.body.id}/retry`);
  assert.deepEqual([nothing.status, nothing.body.code], [409, 'illegal_transition']);
});

test('workflow: lists by status and name, newest first, over pages; the client knows the way', async () => {
  await using server = await openTestServer();
  const client = new Client({ url: server.url });
  const submit = (name: string) => client.submitWorkflow({ name, steps: [{ key: 'a', command: 'x', delay: '1h' }] });
  const ids = [];
  for (const name of ['one', 'two', 'one', 'two']) ids.push((await submit(name)).id);
  assert.equal((await client.cancelWorkflow(ids[0] as string)).status, 'cancelled');
  const { body: page } = await server.call('GET', '/workflows?limit=3');
  assert.deepEqual(WorkflowPage.parse(page), page);
  const { body: rest } = await server.call('GET', `/workflows?limit=3&cursor=${page.next_cursor}`);
  assert.deepEqual(
    [...page.items, ...rest.items].map(({ id }: { id: string }) => id),
    ids.toReversed(),
  );
  assert.equal(rest.next_cursor, null);
  const found = await client.listWorkflows({ status: 'pending', name: 'one' });
  assert.deepEqual(
    found.items.map(({ id }) => id),
    [ids[2]],
  );
  assert.equal((await client.readWorkflow(ids[1] as string)).steps[0]?.status, 'scheduled');
  assert.equal((await client.retryWorkflow(ids[0] as string)).status, 'pending');
  assert.equal((await client.rerunWorkflow(ids[1] as string, { from: 'a' })).rerun_of, ids[1]);
  await assert.rejects(client.readWorkflow('99'), { code: 'workflow_not_found' });
  await assert.rejects(client.readWorkflow('x'), { code: 'workflow_not_found' });
  assert.equal((await server.call('GET', '/workflows?status=blocked')).status, 400);
});

test('workflow: the same key and body again submits nothing', async () => {
  await using server = await openTestServer();
  const submit = (name: string) =>
    server.call('POST', '/workflows', { name, steps: [{ key: 'a', command: 'x' }] }, { 'idempotency-key': 'k' });
  const first = await submit('one');
  const second = await submit('one');
  assert.deepEqual([second.status, second.body.id], [201, first.body.id]);
  assert.deepEqual(
    [first.headers.get('idempotent-replayed'), second.headers.get('idempotent-replayed')],
    [null, 'true'],
  );
  assert.equal((await submit('other')).status, 422);
  assert.equal((await server.call('GET', '/workflows')).body.items.length, 1);
});

const step = (key: string, more: object = {}) => ({ key, command: 'x', ...more });

const BAD: [string, unknown, string, string, RegExp][] = [
  ['nothing', '', 'bad_request', '', /expected a JSON body such as/],
  ['an array', [], 'bad_request', '', /expected a JSON body such as/],
  ['half a body', '{"name":"x","steps":[', 'bad_request', '', /does not end/],
  ['no name', { steps: [step('a')] }, 'bad_request', '/name', /string/],
  ['no steps', { name: 'x' }, 'bad_request', '/steps', /expected a list of steps/],
  ['steps that are a map', { name: 'x', steps: { a: {} } }, 'bad_request', '/steps', /expected a list/],
  ['an empty list', { name: 'x', steps: [] }, 'bad_request', '/steps', /at least one/],
  ['an unknown field', { name: 'x', step: [] }, 'bad_request', '/step', /did you mean steps/],
  ['broken JSON in a step', '{"name":"x","steps":[{"key":}]}', 'bad_request', '/steps/0', /not valid JSON/],
  [
    'a field of a file',
    { name: 'x', steps: [step('a', { comand: 'y' })] },
    'bad_request',
    '/steps/0/comand',
    /command/,
  ],
  [
    'a gang with for_each',
    { name: 'x', steps: [{ ...step('a'), gang: { size: 2 }, for_each: [1] }] },
    'bad_request',
    '/steps/0/gang',
    /for_each/,
  ],
  [
    'a gang that is refused at once',
    { name: 'x', steps: [{ ...step('a'), gang: { size: 2, fail_fast: true } }] },
    'bad_request',
    '/steps/0/gang/fail_fast',
    /waits/,
  ],
  [
    'a gang that restarts and never reruns',
    { name: 'x', steps: [{ ...step('a'), gang: { size: 2 }, rerun: 'never' }] },
    'bad_request',
    '/steps/0/rerun',
    /fail/,
  ],
  ['no command', { name: 'x', steps: [{ key: 'a' }] }, 'bad_request', '/steps/0', /exactly one/],
  ['a bad key', { name: 'x', steps: [step('a b')] }, 'bad_request', '/steps/0/key', /expected a name/],
  ['a key twice', { name: 'x', steps: [step('a'), step('a')] }, 'bad_request', '/steps/1/key', /duplicate/],
  [
    'a parent twice',
    { name: 'x', steps: [step('a'), step('b', { depends_on: ['a', 'a'] })] },
    'bad_request',
    '/steps/1/depends_on/1',
    /twice/,
  ],
  [
    'an unknown parent',
    { name: 'x', steps: [step('a', { depends_on: ['z'] })] },
    'dependency_unknown',
    '/steps/0/depends_on',
    /no step "z"/,
  ],
  [
    'itself as parent',
    { name: 'x', steps: [step('a', { depends_on: 'a' })] },
    'dependency_cycle',
    '/steps/0/depends_on',
    /a -> a/,
  ],
  [
    'a cycle',
    {
      name: 'x',
      steps: [step('a', { depends_on: 'c' }), step('b', { depends_on: 'a' }), step('c', { depends_on: 'b' })],
    },
    'dependency_cycle',
    '/steps/0/depends_on',
    /a -> b -> c -> a|b -> c -> a -> b|c -> a -> b -> c/,
  ],
  [
    'a failure of nobody',
    { name: 'x', steps: [step('a', { if: 'failure' })] },
    'bad_request',
    '/steps/0/if',
    /depends_on/,
  ],
  [
    'the list of a stranger',
    { name: 'x', steps: [step('a'), step('b', { for_each: { output: 'a.files' } })] },
    'bad_request',
    '/steps/1/for_each/output',
    /not in depends_on/,
  ],
  [
    'a list that is none',
    { name: 'x', steps: [step('a', { for_each: null })] },
    'bad_request',
    '/steps/0/for_each',
    /^expected array or object$/,
  ],
  [
    'the parameter of a file',
    { name: 'x', steps: [step('a', { for_each: { param: 'files' } })] },
    'bad_request',
    '/steps/0/for_each/output',
    /^expected a step and a key of its result/,
  ],
  [
    'a list that is too long',
    { name: 'x', steps: [step('a', { for_each: Array.from({ length: 100_001 }, () => 1) })] },
    'bad_request',
    '/steps/0/for_each',
    /^at most 100000 items$/,
  ],
  [
    'a job id as parent',
    { name: 'x', steps: [step('a'), step('b', { depends_on: [{ job: '1' }] })] },
    'bad_request',
    '/steps/1/depends_on/0',
    /^expected a name of letters/,
  ],
  [
    'a variable that is no name',
    { name: 'x', steps: [step('a', { env: { 'A-B': '1' } })] },
    'bad_request',
    '/steps/0/env/A-B',
    /^expected a name of letters, digits and _$/,
  ],
  [
    'a parameter that is no name',
    { name: 'x', params: { '1st': 1 }, steps: [step('a')] },
    'bad_request',
    '/params/1st',
    /^expected a name of letters/,
  ],
  [
    'parents that would be one variable',
    { name: 'x', steps: [step('a-b'), step('a_b'), step('c', { depends_on: ['a-b', 'a_b'] })] },
    'bad_request',
    '/steps/2/depends_on',
    /WORKRON_PARENT_A_B_/,
  ],
  [
    'parameters that would be one variable',
    { name: 'x', params: { 'a-b': 1, a_b: 2 }, steps: [step('a')] },
    'bad_request',
    '/params',
    /same variable/,
  ],
  [
    'a map for a parameter',
    { name: 'x', params: { a: {} }, steps: [step('a')] },
    'bad_request',
    '/params/a',
    /expected/,
  ],
  [
    'a parameter no variable holds',
    { name: 'x', params: { a: 'x'.repeat(65_537) }, steps: [step('a')] },
    'bad_request',
    '/params/a',
    /65536/,
  ],
];

for (const [name, body, code, pointer, detail] of BAD) {
  test(`workflow: ${name} is refused, and nothing is stored`, async () => {
    await using server = await openTestServer();
    const answer = await server.call('POST', '/workflows', body);
    assert.deepEqual([answer.status, answer.body.code], [400, code], JSON.stringify(answer.body));
    assert.equal(answer.body.errors[0].pointer, pointer, JSON.stringify(answer.body));
    assert.match(answer.body.errors[0].detail, detail);
    assert.deepEqual((await server.call('GET', '/workflows')).body.items, []);
    assert.deepEqual((await server.call('GET', '/jobs')).body.items, []);
  });
}

test('workflow: too large is 413', async () => {
  await using server = await openTestServer();
  const huge = await server.call('POST', '/workflows', {
    name: 'x',
    steps: [step('a', { env: { A: 'x'.repeat(1_100_000) } })],
  });
  assert.deepEqual([huge.status, huge.body.code], [413, 'payload_too_large']);
  const steps = Array.from({ length: 100_001 }, (_, index) => step(`s${index}`));
  const many = await server.call('POST', '/workflows', { name: 'x', steps });
  assert.deepEqual([many.status, many.body.code], [413, 'payload_too_large']);
});
