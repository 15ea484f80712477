/** What is in flight while rights end, and what can be used once, by many at the same moment. */

import { setTimeout as sleep } from 'node:timers/promises';
import { SESSION_HEADER } from '../../src/api/session.ts';
import { type Attack, asAdmin, bearer, isOneOf, type Target, tokenOf } from './attack.ts';

type Headers = Record<string, string>;
/** Returns the status of the answer. */
type Use = () => Promise<number>;

const AT_ONCE = 10;
const atOnce = <T>(call: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: AT_ONCE }, call));
const read = (target: Target, headers: Headers): Use => {
  return async () => (await target.call('GET', '/jobs', undefined, headers)).status;
};

async function logIn(target: Target, headers: Headers): Promise<Headers> {
  const { headers: answered, body } = await target.call('POST', '/session', undefined, headers);
  return { cookie: answered.get('set-cookie')?.split(';', 1)[0] ?? '', [SESSION_HEADER]: String(body.key) };
}

async function linkOf(target: Target, headers: Headers): Promise<Headers> {
  const { body } = await target.call('POST', '/session/links', undefined, headers);
  return bearer(String(body.path).split('link=')[1] ?? 'none');
}

async function ticketOf(target: Target, headers: Headers): Promise<Use> {
  const { body } = await target.call('POST', '/session/tickets', { path: '/jobs' }, headers);
  return async () => (await target.call('GET', `/jobs?ticket=${body.ticket}`)).status;
}

interface Scene {
  target: Target;
  name: string;
  token: Headers;
  session: Headers;
}

/** How rights end. The promise resolves with the answer, so everything that is asked later must be refused. */
const ENDS: Record<string, (scene: Scene) => Promise<unknown>> = {
  'its token is revoked': ({ target, name }) => target.call('DELETE', `/tokens/${name}`, undefined, asAdmin),
  'its token is rotated': ({ target, name }) =>
    target.call('POST', `/tokens/${name}/rotate`, { overlap: '0s' }, asAdmin),
  'it logs out': ({ target, session }) => target.call('DELETE', '/session', undefined, session),
};

/** What a caller does all the while; each returns what it could keep of it. */
const CALLS: Record<string, { bySession: boolean; call: (scene: Scene) => Promise<Use> }> = {
  'requests of a token': { bySession: false, call: async ({ target, token }) => read(target, token) },
  'requests of a session': { bySession: true, call: async ({ target, session }) => read(target, session) },
  logins: { bySession: false, call: async ({ target, token }) => read(target, await logIn(target, token)) },
  links: {
    bySession: false,
    async call({ target, token }) {
      const link = await linkOf(target, token);
      return async () => (await target.call('POST', '/session', undefined, link)).status;
    },
  },
  'logins by links': {
    bySession: false,
    call: async ({ target, token }) => read(target, await logIn(target, await linkOf(target, token))),
  },
  'tickets of a token': { bySession: false, call: ({ target, token }) => ticketOf(target, token) },
  'tickets of a session': { bySession: true, call: ({ target, session }) => ticketOf(target, session) },
};

/** Calls go on while the rights end; what they were given before, during and after must be worth nothing then. */
async function race(scene: Scene, call: (scene: Scene) => Promise<Use>, end: (scene: Scene) => Promise<unknown>) {
  const kept: Use[] = [];
  const over = new AbortController();
  const callers = atOnce(async () => {
    while (!over.signal.aborted) {
      const use = await call(scene);
      kept.push(use);
      if (!over.signal.aborted) await use();
    }
  });
  // A token that nobody knows makes the server read the valid ones again.
  const stranger = async () => {
    while (!over.signal.aborted) await read(scene.target, bearer(`wkr_${'x'.repeat(43)}`))();
  };
  const strangers = stranger();
  await sleep(Math.random() * 60);
  await end(scene);
  over.abort();
  // While what was asked before is still being answered, and once more when it was.
  const statuses = await Promise.all(kept.slice(-AT_ONCE).map((use) => use()));
  await Promise.all([callers, strangers]);
  statuses.push(...(await Promise.all(kept.slice(-2 * AT_ONCE).map((use) => use()))));
  const through = statuses.filter((status) => !isOneOf(scene.target, status, [401]));
  return through.length === 0 ? null : `${through.length} of ${statuses.length} were answered ${through[0]}`;
}

async function sceneOn(target: Target, name: string): Promise<Scene> {
  const token = bearer(await tokenOf(target, { name, role: 'viewer' }));
  return { target, name, token, session: await logIn(target, token) };
}

/** What works once at most, or for one. */
const ONCE: Record<string, (scene: Scene) => Promise<string | null>> = {
  async 'a link by ten'({ target, token }) {
    const link = await linkOf(target, token);
    return onlyOne(await atOnce(async () => (await target.call('POST', '/session', undefined, link)).status), 1);
  },
  async 'a ticket by ten'({ target, token }) {
    return onlyOne(await atOnce(await ticketOf(target, token)), 1);
  },
  async 'a name for ten tokens'({ target, name }) {
    const make = () => target.call('POST', '/tokens', { name: `${name}-new`, role: 'viewer' }, asAdmin);
    const made = await atOnce(make);
    const problem = onlyOne(
      made.map(({ status }) => status),
      1,
    );
    await target.call('DELETE', `/tokens/${name}-new`, undefined, asAdmin);
    return (
      problem ??
      (await noneOf(
        target,
        made.map(({ body }) => body.token),
      ))
    );
  },
  async 'ten rotations of a token'({ target, name, token }) {
    const rotate = () => target.call('POST', `/tokens/${name}/rotate`, { overlap: '0s' }, asAdmin);
    const made = await atOnce(rotate);
    const old = await read(target, token)();
    if (!isOneOf(target, old, [401])) return `the old token was answered ${old}`;
    const uses = made.flatMap(({ body }) => (body.token === undefined ? [] : [read(target, bearer(body.token))]));
    const problem = onlyOne(await Promise.all(uses.map((use) => use())), 1);
    await target.call('DELETE', `/tokens/${name}`, undefined, asAdmin);
    return (
      problem ??
      (await noneOf(
        target,
        made.map(({ body }) => body.token),
      ))
    );
  },
  async 'a rotation beside a revocation'({ target, name }) {
    const [made] = await Promise.all([
      target.call('POST', `/tokens/${name}/rotate`, { overlap: '1h' }, asAdmin),
      target.call('DELETE', `/tokens/${name}`, undefined, asAdmin),
    ]);
    return await noneOf(target, [made.body.token]);
  },
};

function onlyOne(statuses: readonly number[], most: number): string | null {
  const worked = statuses.filter((status) => status < 300).length;
  return worked <= most ? null : `it worked ${worked} times`;
}

async function noneOf(target: Target, tokens: readonly (string | undefined)[]): Promise<string | null> {
  const given = tokens.filter((token) => token !== undefined);
  const statuses = await Promise.all(given.map((token) => read(target, bearer(token))()));
  const through = statuses.filter((status) => !isOneOf(target, status, [401]));
  return through.length === 0 ? null : `${through.length} tokens are valid after the revocation`;
}

export function raceAttacks(target: Target, rounds: number): Attack[] {
  let scenes = 0;
  const nextScene = () => {
    scenes += 1;
    return sceneOn(target, `race-${scenes}`);
  };
  const ends = Object.entries(CALLS).flatMap(([calls, { bySession, call }]) =>
    Object.entries(ENDS)
      .filter(([end]) => bySession || end !== 'it logs out')
      .map(([end, doEnd]) => ({
        name: `${calls} while ${end}`,
        attempt: async () => race(await nextScene(), call, doEnd),
      })),
  );
  const once = Object.entries(ONCE).map(([name, attempt]) => ({
    name: `${name} at the same moment`,
    attempt: async () => attempt(await nextScene()),
  }));
  return [...ends, ...once].flatMap(({ name, attempt }) =>
    Array.from({ length: rounds }, (_, round) => ({ group: 'races', name: `${name}, round ${round + 1}`, attempt })),
  );
}
