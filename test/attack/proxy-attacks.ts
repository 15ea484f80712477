/** Attacks on the headers of a proxy, and on what a token for some queues may do in others. */

import assert from 'node:assert/strict';
import { type Attack, asAdmin as admin, bearer, refused, type Target, tokenOf } from './attack.ts';

const HEADERS = ['x-forwarded-email', 'X-Forwarded-Email', 'x-forwarded-user', 'x-auth-request-email', 'remote-user'];

export function proxyAttacks({ near, far }: { near: Target; far: Target }): Attack[] {
  const attack = (name: string, server: Target, lines: string[], statuses: number[]): Attack => ({
    group: 'names and addresses of a proxy',
    name,
    attempt: () => refused(server, { headers: [`host: 127.0.0.1:${server.port}`, ...lines], path: '/jobs' }, statuses),
  });
  return [
    ...HEADERS.map((header) => attack(`${header} from another peer`, far, [`${header}: ada@example.org`], [401])),
    ...['127.0.0.1', '10.9.8.7', '::1', '10.9.8.7, 10.9.8.7', 'for=10.9.8.7'].map((from) =>
      attack(
        `a name with a forged address ${from}`,
        far,
        ['x-forwarded-email: ada@example.org', `x-forwarded-for: ${from}`],
        [401],
      ),
    ),
    attack('two names', near, ['x-forwarded-email: eve@example.com', 'x-forwarded-email: ada@example.org'], [400]),
    attack(
      'two equal names',
      near,
      ['x-forwarded-email: ada@example.org', 'X-FORWARDED-EMAIL: ada@example.org'],
      [400],
    ),
    ...['token', 'local', 'eve@example.com', 'ada@example.org.evil.com'].map((name) =>
      attack(`a name without a role, ${name}`, near, [`x-forwarded-email: ${name}`], [403]),
    ),
    ...['ada@example.org, eve', 'a\tb@example.org', ' \u00a0@example.org', `${'a'.repeat(200)}@example.org`].map(
      (name) =>
        attack(`a malformed name, ${JSON.stringify(name.slice(0, 20))}`, near, [`x-forwarded-email: ${name}`], [400]),
    ),
    ...['cross-site', 'same-site'].map((site) =>
      attack(
        `the sign-in of a browser by a ${site} page`,
        near,
        ['x-forwarded-email: ada@example.org', `sec-fetch-site: ${site}`],
        [401, 403],
      ),
    ),
  ];
}

const NAME = 'ada@example.org';
/** Spellings of the header that a proxy removes. */
const FORGED: readonly string[] = [
  `x-forwarded-email: ${NAME}`,
  `X-FORWARDED-EMAIL: ${NAME}`,
  `x_forwarded_email: ${NAME}`,
  `x-forwarded-email : ${NAME}`,
  `x-forwarded-email:\t${NAME}`,
  `x-a: b\nx-forwarded-email: ${NAME}`,
  `x-a: b\r\n x-forwarded-email: ${NAME}`,
  `x-a: b\rx-forwarded-email: ${NAME}`,
  `x-forwarded-email:\r\n ${NAME}`,
  `x-forwarded-email\x00: ${NAME}`,
  `x-forwarded-email\u00a0: ${NAME}`,
  `x-forwarded-emai\u212a: ${NAME}`,
  `connection: x-forwarded-email\r\nx-forwarded-email: ${NAME}`,
  `te: trailers\r\ntrailer: x-forwarded-email\r\nx-original-email: ${NAME}`,
];

/** A user that the caller names, to a proxy that removes the header. */
export function forgedAttacks(target: Target): Attack[] {
  return FORGED.map((line) => ({
    group: 'names and addresses of a proxy',
    name: `through the proxy, ${JSON.stringify(line)}`,
    attempt: () => refused(target, { headers: [`host: 127.0.0.1:${target.port}`, line] }, [400, 401]),
  }));
}

/** By a submitter of the queue `mine`, against jobs, workflows and schedules of the queue `theirs`. */
export async function queueAttacks(server: Target): Promise<Attack[]> {
  const make = async (method: string, path: string, body: object) => {
    const answer = await server.call(method, path, body, admin);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status}`);
    return answer.body;
  };
  const theirs = { queue: 'theirs', command: 'echo theirs', delay: '1h' };
  const job = await make('POST', '/jobs', { ...theirs, unique: { key: 'theirs' } });
  const steps = [{ key: 'a', queue: 'theirs', command: 'true' }];
  const workflow = await make('POST', '/workflows', { name: 'theirs', steps });
  await make('PUT', '/schedules/theirs', { every: '1h', job: { queue: 'theirs', command: 'true' } });
  const source = (queue: string) => `name: theirs\nsteps:\n  - { key: a, queue: ${queue}, command: echo a }\n`;
  await make('PUT', '/definitions/theirs', { source: source('theirs') });
  const token = await tokenOf(server, { name: 'queue-attacker', role: 'submitter', queues: ['mine'] });
  const attempts: [string, string, object?][] = [
    ['POST', '/jobs', theirs],
    ['POST', '/jobs', [{ command: 'true', queue: 'mine' }, theirs]],
    ...['replace', 'supersede', 'after'].map((way): [string, string, object] => [
      'POST',
      '/jobs',
      { queue: 'mine', command: 'echo mine', unique: { key: 'theirs', on_conflict: way } },
    ]),
    ['POST', `/jobs/${job.id}/rerun`],
    ['POST', `/jobs/${job.id}/cancel`],
    ['PATCH', `/jobs/${job.id}`, { queue: 'mine' }],
    ['POST', '/workflows', { name: 'w', steps }],
    ['POST', `/workflows/${workflow.id}/rerun`, { from: 'a' }],
    ['POST', `/workflows/${workflow.id}/cancel`],
    ['PUT', '/schedules/theirs', { every: '1h', job: { queue: 'mine', command: 'true' } }],
    ['PATCH', '/schedules/theirs', { job: { queue: 'mine' } }],
    ['POST', '/schedules/theirs/run'],
    ['POST', '/schedules', { name: 'new', every: '1h', job: { queue: 'theirs', command: 'true' } }],
    ['DELETE', '/schedules/theirs'],
    ['PUT', '/definitions/theirs', { source: source('mine') }],
    ['GET', '/definitions/theirs/source'],
    ['POST', '/definitions/theirs/run', {}],
    ['POST', '/jobs', { queue: 'mine', command: 'true', notify: [{ on: ['failed'], command: 'id' }] }],
  ];
  return attempts.map(([method, path, body]) => ({
    group: 'other queues with a token for some',
    name: `${method} ${path} ${JSON.stringify(body ?? {}).slice(0, 60)}`,
    async attempt() {
      const { status } = await server.call(method, path, body, bearer(token));
      return status === 403 || status === 409 ? null : `answered ${status}`;
    },
  }));
}
