/** Attacks on values that no reader may see, and on the answers to keys of others. */

import assert from 'node:assert/strict';
import { routes } from '../../src/api/routes.ts';
import { type Attack, asAdmin as admin, type Caller, type Target, tokenOf } from './attack.ts';

const PLAIN = 'canary-of-a-plain-variable';
const SECRET = 'canary-of-a-secret';
const INPUT = 'canary-of-a-sealed-input';
const ENV = { PLAIN, PW: { secret: 'attacked' } };
const HANDLED = { handler: 'h', input: { card: INPUT }, seal_input: true, env: ENV };
/** Streams that do not end, and the file of a stored workflow, which has env and inputs as they were written. */
const LEFT_OUT: readonly string[] = [
  routes.streamEvents.path,
  routes.nudgeWorker.path,
  routes.waitJob.path,
  routes.readDefinitionSource.path,
];

/** Every answer that can be read, by the caller with all rights, after values were put wherever a variable or a sealed input can be. */
export async function hiddenAttacks(server: Target): Promise<Attack[]> {
  const make = async (method: string, path: string, body: object) => {
    const { status, body: made } = await server.call(method, path, body, admin);
    assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(made)}`);
    return String(made.id ?? made.name);
  };
  const steps = [
    { key: 'a', command: 'true', env: ENV, delay: '1h' },
    { key: 'b', ...HANDLED, delay: '1h', for_each: [1] },
  ];
  const source = JSON.stringify({ name: 'hidden', steps });
  await make('PUT', '/secrets/attacked', { value: SECRET });
  const sealed = { input: INPUT, seal_input: true };
  const job = await make('POST', '/jobs', { command: 'true', delay: '1h', env: ENV, ...sealed });
  const workflow = await make('POST', '/workflows', { name: 'hidden', steps });
  await make('PUT', '/schedules/hidden', { every: '1h', job: HANDLED });
  await make('PUT', '/definitions/hidden', { source });
  const reads = Object.values(routes).filter(({ method, path }) => method === 'GET' && !LEFT_OUT.includes(path));
  const addresses = reads.flatMap(({ path }) => {
    if (path.includes(':name')) return [path.replace(':name', 'hidden')];
    if (!path.includes(':id')) return [path];
    return [job, workflow].map((id) => path.replace(':id', id));
  });
  const changes: [string, string, object?][] = [
    ['PATCH', `/jobs/${job}`, { priority: 1 }],
    ['POST', `/jobs/${job}/rerun`],
    ['POST', `/jobs/${job}/cancel`],
    ['POST', `/jobs/${job}/retry`],
    ['PATCH', '/schedules/hidden', { every: '2h' }],
    ['PATCH', '/schedules/hidden', { job: { input: { card: `${INPUT}-2` } } }],
    ['POST', '/schedules/hidden/run'],
    ['POST', '/schedules/hidden/pause'],
    ['POST', '/jobs', { command: 'true', input: { not: 'a text', card: INPUT }, seal_input: true }],
    ['POST', '/jobs', { command: 'true', env: { ...ENV, 'NOT=A NAME': PLAIN } }],
    ['POST', '/jobs', { command: 'true', env: { PW: { secret: 'attacked', value: SECRET } } }],
  ];
  const requests = [...new Set(addresses)].map((path): [string, string, object?] => ['GET', path]);
  return [...requests, ...changes].map(([method, path, body]) => ({
    group: 'values of env, secrets and sealed inputs',
    name: `${method} ${path}`,
    async attempt() {
      const answer = await server.call(method, path, body, admin);
      const text = JSON.stringify(answer.body);
      return [PLAIN, SECRET, INPUT].some((value) => text.includes(value)) ? `${answer.status} shows a value` : null;
    },
  }));
}

/** Values as only the store has them, and the names of the keys that open them. */
export function sealedAttacks(server: Target): Attack[] {
  const values = [{ sealed: '00000000:AAAA' }, { secret: '~data-key-00000000' }, { secret: 'attacked', sealed: 'x' }];
  const job = (value: object) => ({ command: 'true', env: { A: value } });
  const attempts = values.flatMap((value): [string, string, object?][] => [
    ['POST', '/jobs', job(value)],
    ['POST', '/workflows', { name: 'sealed', steps: [{ key: 'a', ...job(value) }] }],
    ['PUT', '/schedules/sealed', { every: '1h', job: job(value) }],
    ['PATCH', '/schedules/hidden', { job: { env: { A: value } } }],
    [
      'PUT',
      '/definitions/sealed',
      { source: JSON.stringify({ name: 'sealed', steps: [{ key: 'a', ...job(value) }] }) },
    ],
  ]);
  attempts.push(
    ['PUT', '/secrets/~data-key-00000000', { value: 'a-key-of-my-own' }],
    ['DELETE', '/secrets/~data-key-00000000'],
  );
  return attempts.map(([method, path, body]) => ({
    group: 'values of env, secrets and sealed inputs',
    name: `${method} ${path} ${JSON.stringify(body ?? {}).slice(0, 60)}`,
    async attempt() {
      const { status } = await server.call(method, path, body, admin);
      return status === 400 ? null : `answered ${status}`;
    },
  }));
}

/** What a submitter of the queue `mine` tries beyond the plain ways. */
export async function escapeAttacks(server: Target): Promise<Attack[]> {
  const made = (caller: Caller) => tokenOf(server, caller);
  const restricted = {
    authorization: `Bearer ${await made({ name: 'escapes', role: 'submitter', queues: ['mine'] })}`,
  };
  const other = { authorization: `Bearer ${await made({ name: 'escaped', role: 'submitter' })}` };
  const file = (lines: string) => ({ source: `name: escape\n${lines}` });
  const attempts: [string, string, object][] = [
    ...['MINE', 'mine ', 'mi\u200bne', '\uff4dine', 'mine,theirs', '*'].map((queue): [string, string, object] => [
      'POST',
      '/jobs',
      { command: 'true', queue },
    ]),
    ['POST', '/jobs', { command: 'true' }],
    ['POST', '/jobs', { command: 'true', queue: 'mine', submitted_by: 'token' }],
    ['POST', '/jobs', { command: 'true', queue: 'mine', workflow_id: '1' }],
    [
      'POST',
      '/jobs',
      { command: 'true', queue: 'mine', gang: { size: 2 }, unique: { key: 'theirs', on_conflict: 'replace' } },
    ],
    [
      'POST',
      '/workflows',
      { name: 'w', steps: [{ key: 'a', queue: 'mine', command: 'x', unique: { key: 'theirs' } }] },
    ],
    ['PUT', '/schedules/escape', { every: '1h', job: { queue: 'mine', command: 'x', unique: { key: 'theirs' } } }],
    ['PUT', '/definitions/escape', file("defaults: { queue: theirs }\nsteps:\n  - { key: a, command: 'true' }\n")],
    ['PUT', '/definitions/escape', file("steps:\n  - { key: a, command: 'true' }\n")],
    [
      'PUT',
      '/definitions/escape',
      file("steps:\n  - { key: a, queue: mine, command: 'true' }\nnotify:\n  - { on: [failed], command: id }\n"),
    ],
    ['POST', '/schedules/apply', { owner: 'me', schedules: [] }],
    ['POST', '/notify/test', { notify: [{ on: ['failed'], command: 'id' }] }],
    ['POST', '/jobs/bulk', { action: 'cancel', filter: { queue: 'theirs' } }],
    ['PATCH', '/queues/theirs', { paused: true }],
  ];
  const body = { command: 'true', queue: 'mine', delay: '1h' };
  return [
    ...attempts.map(([method, path, sent]) => ({
      group: 'escapes from a queue',
      name: `${method} ${path} ${JSON.stringify(sent).slice(0, 60)}`,
      async attempt() {
        const { status } = await server.call(method, path, sent, restricted);
        return [400, 403].includes(status) ? null : `answered ${status}`;
      },
    })),
    {
      group: 'escapes from a queue',
      name: 'the idempotency key of another token',
      async attempt() {
        const key = { 'idempotency-key': 'shared' };
        const theirs = await server.call('POST', '/jobs', body, { ...other, ...key });
        const mine = await server.call('POST', '/jobs', body, { ...restricted, ...key });
        return mine.body.id === theirs.body.id ? 'got the job of another' : null;
      },
    },
  ];
}
