/** Sessions, links and tickets after the end of what they were made with: each kind, after each end, here and after a restart. */

import assert from 'node:assert/strict';
import { SESSION_HEADER } from '../../src/api/session.ts';
import { type Attack, asAdmin, bearer, isOneOf, type Target, tokenOf } from './attack.ts';
import type { Ground } from './ground.ts';

type Headers = Record<string, string>;
/** Uses what was kept at a server, and returns the status of the answer. */
type Kept = (server: Target) => Promise<number>;

async function logIn(server: Target, headers: Headers): Promise<Headers> {
  const { headers: answered, body } = await server.call('POST', '/session', undefined, headers);
  return { cookie: answered.get('set-cookie')?.split(';', 1)[0] ?? '', [SESSION_HEADER]: String(body.key) };
}

function sessionUse(session: Headers): Kept {
  return async (server) => (await server.call('GET', '/jobs', undefined, session)).status;
}

async function ticketUse(server: Target, headers: Headers): Promise<Kept> {
  const { body } = await server.call('POST', '/session/tickets', { path: '/jobs' }, headers);
  return async (used) => (await used.call('GET', `/jobs?ticket=${body.ticket}`)).status;
}

async function linkOf(server: Target, headers: Headers): Promise<Headers> {
  const { body } = await server.call('POST', '/session/links', undefined, headers);
  return bearer(String(body.path).split('link=')[1] ?? '');
}

/** What a caller can keep, by the headers of its token and of its session. */
const KEPT: Record<string, (server: Target, token: Headers, session: Headers) => Promise<Kept>> = {
  'a session': async (_server, _token, session) => sessionUse(session),
  'a session by a link': async (server, token) => sessionUse(await logIn(server, await linkOf(server, token))),
  'a session by a session': async (server, _token, session) => sessionUse(await logIn(server, session)),
  'a link': async (server, token) => {
    const link = await linkOf(server, token);
    return async (used) => (await used.call('POST', '/session', undefined, link)).status;
  },
  'a session by a link by a session': async (server, _token, session) =>
    sessionUse(await logIn(server, await linkOf(server, session))),
  'a ticket': (server, token) => ticketUse(server, token),
  'a ticket of a session': (server, _token, session) => ticketUse(server, session),
};

const change = (target: Target, method: string, path: string, body?: object) =>
  target.call(method, path, body, asAdmin);
type Step = (target: Target, name: string) => Promise<unknown>;
const revoke: Step = (target, name) => change(target, 'DELETE', `/tokens/${name}`);
const rotate: Step = (target, name) => change(target, 'POST', `/tokens/${name}/rotate`, { overlap: '0s' });
const overlap: Step = (target, name) => change(target, 'POST', `/tokens/${name}/rotate`, { overlap: '1h' });
const make: Step = (target, name) => change(target, 'POST', '/tokens', { name, role: 'admin' });

/** Ends of a token. */
const ENDS: Record<string, readonly Step[]> = {
  'its token was revoked': [revoke],
  'its token was revoked and its name used again': [revoke, make],
  'its token was revoked, and its name used twice': [revoke, make, revoke, make],
  'its token was rotated': [rotate],
  'its token was rotated twice': [overlap, rotate],
  'its token was rotated, revoked, and its name used again': [rotate, revoke, make],
};

/** Made by a session, so they end with it. */
const OF_SESSIONS = [
  'a session',
  'a session by a session',
  'a session by a link by a session',
  'a ticket of a session',
];

const LOG_OUT = 'the session was logged out';
/** Nothing has ended: what is kept must be accepted, or its attacks prove nothing. */
const NOTHING = 'nothing';

interface Case {
  kind: string;
  end: string;
  kept: Kept;
}

/** Makes what is kept, and ends what it was made with. */
async function prepare(target: Target, name: string, kind: string, end: string): Promise<Case> {
  const token = bearer(await tokenOf(target, { name, role: 'viewer' }));
  const session = await logIn(target, token);
  const kept = await KEPT[kind]?.(target, token, session);
  assert.ok(kept !== undefined);
  if (end === LOG_OUT) await target.call('DELETE', '/session', undefined, session);
  for (const step of ENDS[end] ?? []) await step(target, name);
  return { kind, end, kept };
}

export async function endedAttacks({ guarded, again }: Ground): Promise<Attack[]> {
  const cases: (Case & { place: 'here' | 'there' })[] = [];
  for (const place of ['here', 'there'] as const) {
    for (const kind of Object.keys(KEPT)) {
      const ends = [...Object.keys(ENDS), ...(OF_SESSIONS.includes(kind) ? [LOG_OUT] : []), ...controls(kind)];
      for (const end of ends) {
        cases.push({ place, ...(await prepare(guarded, `ended-${cases.length}`, kind, end)) });
      }
    }
  }
  const restarted = await again?.();
  assert.ok(restarted !== undefined);
  return cases.map(({ place, kind, end, kept }) => ({
    group: 'sessions, links and tickets after their end',
    name: `${kind} after ${end}${place === 'here' ? '' : ', and a restart'}`,
    async attempt() {
      const target = place === 'here' ? guarded : restarted;
      const status = await kept(target);
      return (end === NOTHING ? status === 200 : isOneOf(target, status, [401])) ? null : `answered ${status}`;
    },
  }));
}

/** A session opens no other one, so nothing is kept of that. */
function controls(kind: string): string[] {
  return kind.endsWith('by a session') ? [] : [NOTHING];
}
