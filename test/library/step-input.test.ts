/** Inputs of workflow steps, which a program that only speaks HTTP writes without knowing the schema of the job. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { Client } from '../../src/client.ts';
import { job, open, type Workron } from '../../src/index.ts';
import { openTestKit } from '../../src/testing.ts';
import { eventually } from '../kit/eventually.ts';
import { openTestServer } from '../kit/http.ts';
import { inThread } from './isolated-jobs.ts';

const charge = job('charge', { input: z.object({ orderId: z.number() }), run: ({ orderId }) => orderId });
const ship = job('ship', {
  input: z.object({ to: z.string().refine(async (to) => Promise.resolve(to !== 'nowhere'), 'no such place') }),
  run: ({ to }) => to,
});

async function apiOf(workron: Workron) {
  const { fetch } = await workron.mount();
  return async (method: string, path: string, body?: object) => {
    const init = body === undefined ? { method } : { method, headers: JSON_TYPE, body: JSON.stringify(body) };
    const answer = await fetch(new Request(`http://localhost${path}`, init));
    return { status: answer.status, json: (await answer.json()) as Answer };
  };
}

const JSON_TYPE = { 'content-type': 'application/json' };

interface Answer {
  code: string;
  detail: string;
  errors: { detail: string }[];
  items: unknown[];
}

test('step input: a workflow with an input that the schema of a job of this process refuses is refused as a whole', async () => {
  await using kit = await openTestKit({ jobs: [charge, ship, inThread] });
  const api = await apiOf(kit.workron);
  const steps = [
    { key: 'late', handler: 'ship', input: { to: 'nowhere' }, depends_on: ['pay'] },
    { key: 'pay', handler: 'charge', input: { orderId: 'x' } },
    { key: 'thread', handler: 'in-thread', input: { n: 7 } },
    { key: 'none', handler: 'charge' },
    { key: 'unknown', handler: 'elsewhere', input: { orderId: 'x' } },
    { key: 'command', command: 'true' },
  ];
  const refused = await api('POST', '/workflows', { name: 'order', steps });
  assert.deepEqual([refused.status, refused.json.code], [400, 'bad_request']);
  const details = refused.json.errors
    .map(({ detail }) => detail.replace(/: (Invalid input|no such place).*$/, ''))
    .sort();
  assert.deepEqual(details, [
    'step late: the input of ship: /to',
    'step none: the input of charge',
    'step pay: the input of charge: /orderId',
    'step thread: the input of in-thread: /n',
  ]);
  assert.deepEqual((await api('GET', '/workflows')).json.items, []);
  const fits = [
    { key: 'pay', handler: 'charge', input: { orderId: 1 } },
    { key: 'late', handler: 'ship', input: { to: 'Ada' }, depends_on: ['pay'] },
    { key: 'unknown', handler: 'elsewhere', input: { orderId: 'x' } },
  ];
  assert.equal((await api('POST', '/workflows', { name: 'order', steps: fits })).status, 201);
  assert.equal((await kit.runNext())?.result, 1);
  assert.equal((await kit.runNext())?.result, 'Ada');
});

test('step input: a stored definition is checked when it runs', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  await workron.start({ jobs: [charge] });
  const api = await apiOf(workron);
  const source = 'name: order\nsteps:\n  pay:\n    handler: charge\n    input: { orderId: x }\n';
  assert.equal((await api('PUT', '/definitions/order', { source })).status, 200);
  const { status, json } = await api('POST', '/definitions/order/run', {});
  assert.deepEqual([status, json.code], [400, 'bad_request']);
  assert.match(json.detail, /step pay: the input of charge: \/orderId: /);
});

test('step input: a worker that is not where the workflow was submitted names the step and the field, and does not retry', async () => {
  await using server = await openTestServer();
  const client = new Client({ url: server.url });
  await using workron = await open(server.url, { log: 'silent' });
  await workron.start({ jobs: [charge, inThread] });
  const { id } = await client.submitWorkflow({
    name: 'order',
    steps: [
      { key: 'once', handler: 'charge', input: { orderId: 'x' }, rerun: 'never' },
      { key: 'thread', handler: 'in-thread', input: { n: 7 }, rerun: 'never' },
      { key: 'again', handler: 'charge', input: { orderId: 'x' } },
    ],
  });
  const jobOf = async (key: string) => {
    const { steps } = await client.readWorkflow(id);
    return await client.readJob(steps.find((step) => step.key === key)?.job_id as string);
  };
  for (const [key, name, field] of [
    ['once', 'charge', '/orderId'],
    ['thread', 'in-thread', '/n'],
  ] as const) {
    const failed = await eventually(async () => {
      const found = await jobOf(key);
      return found.status === 'failed' && found;
    });
    assert.deepEqual([failed.reason, failed.attempts, failed.thrown?.code], ['fatal', 1, 'invalid_input']);
    assert.match(failed.error ?? '', new RegExp(`step ${key}: the input of ${name} is not valid: ${field}: `));
  }
  const handedBack = await eventually(async () => {
    const found = await jobOf('again');
    return found.snoozes > 0 && found;
  });
  assert.equal(handedBack.failures, 0);
  assert.match(handedBack.error ?? '', /^handed back for another worker: step again: the input of charge is not valid/);
});
