/** Attacks by callers with a token: derived tokens, sessions, tickets, links, addresses, headers, keys of others. */

import { ROLE_SCOPES } from '../../src/api/route.ts';
import { SESSION_HEADER } from '../../src/api/session.ts';
import { TOKEN_ROLES } from '../../src/core/token.ts';
import { derivedFromHash, derivedToken, hashToken } from '../../src/ops/token-text.ts';
import { ADMIN_TOKEN, type Attack, bearer, isOneOf, refused, send, type Target, tokenOf } from './attack.ts';

type Headers = Record<string, string>;

/** Tokens that were derived for requests of a worker, from tokens of every role and from what a backup has of them. */
export async function derivedAttacks(server: Target): Promise<Attack[]> {
  const attacks: Attack[] = [];
  for (const role of TOKEN_ROLES) {
    const token = await tokenOf(server, { name: `derives-${role}`, role });
    const requests: [string, string, object][] = [
      ['POST', '/workers/register', { name: 'w' }],
      ['POST', '/jobs/claim', { worker_id: '1' }],
      ['POST', '/workers/1/heartbeat', {}],
      ['POST', '/tokens', { name: 'me', role: 'admin' }],
      ...(ROLE_SCOPES[role].includes('work') ? [] : [['POST', '/workers/1/gone', {}] as [string, string, object]]),
    ];
    for (const [method, path, body] of requests) {
      const line = `${method} ${path}`;
      const made = { token: derivedToken(token, line), hash: derivedFromHash(hashToken(token), line) };
      for (const [from, derived] of Object.entries(made)) {
        attacks.push({
          group: 'derived tokens',
          name: `${line} with one from the ${from} of a ${role}`,
          async attempt() {
            const { status } = await server.call(method, path, body, bearer(derived));
            return isOneOf(server, status, [401, 403]) ? null : `answered ${status}`;
          },
        });
      }
    }
  }
  return attacks;
}

/** Halves of sessions, and tickets and links that were used or are for something else. */
export async function sessionAttacks(server: Target): Promise<Attack[]> {
  const [viewer, operator] = [
    await tokenOf(server, { name: 'session-viewer', role: 'viewer' }),
    await tokenOf(server, { name: 'session-operator', role: 'operator' }),
  ];
  const logIn = async (token: string) => {
    const { headers, body } = await server.call('POST', '/session', undefined, bearer(token));
    return { cookie: headers.get('set-cookie')?.split(';', 1)[0] ?? '', key: body.key as string };
  };
  const [mine, theirs, ended] = [await logIn(viewer), await logIn(operator), await logIn(viewer)];
  await server.call('DELETE', '/session', undefined, { cookie: ended.cookie, [SESSION_HEADER]: ended.key });
  const named = (cookie: string, other: string) => cookie.replace(/^[^=]+/, other.split('=', 1)[0] ?? '');
  const sessions: [string, Headers, string?, string?][] = [
    ['the cookie alone', { cookie: mine.cookie }],
    ['the key alone', { [SESSION_HEADER]: mine.key }],
    ['the cookie and the key of another', { cookie: mine.cookie, [SESSION_HEADER]: theirs.key }],
    [
      'the cookie under the name of another, with the key of that',
      { cookie: named(mine.cookie, theirs.cookie), [SESSION_HEADER]: theirs.key },
    ],
    ['the key and the cookie of another', { cookie: theirs.cookie, [SESSION_HEADER]: mine.key }],
    [
      'the cookie of another before its own',
      { cookie: `${named(mine.cookie, theirs.cookie)}; ${theirs.cookie}`, [SESSION_HEADER]: theirs.key },
    ],
    ['one that was logged out', { cookie: ended.cookie, [SESSION_HEADER]: ended.key }],
    ['another port of the machine', { cookie: mine.cookie, [SESSION_HEADER]: mine.key, 'sec-fetch-site': 'same-site' }],
    ['a wrong token beside it', { cookie: mine.cookie, [SESSION_HEADER]: mine.key, ...bearer('wrong') }],
    ['logging out another by its cookie', { cookie: theirs.cookie }, 'DELETE', '/session'],
    ['a viewer reads the audit', { cookie: mine.cookie, [SESSION_HEADER]: mine.key }, 'GET', '/audit'],
  ];
  const attacks: Attack[] = sessions.map(([name, headers, method = 'GET', path = '/jobs']) => ({
    group: 'sessions, tickets and links',
    name,
    async attempt() {
      const { status } = await server.call(method, path, undefined, headers);
      return isOneOf(server, status, [401, 403]) ? null : `answered ${status}`;
    },
  }));
  return [...attacks, ...(await ticketAttacks(server, viewer))];
}

async function ticketAttacks(server: Target, viewer: string): Promise<Attack[]> {
  const { body: job } = await server.call('POST', '/jobs', { command: 'true', delay: '1h' }, bearer(ADMIN_TOKEN));
  const path = `/jobs/${job.id}/logs`;
  const ticket = async (wanted: string) =>
    (await server.call('POST', '/session/tickets', { path: wanted }, bearer(viewer))).body.ticket as string;
  const get = async (address: string, headers: Headers = {}) =>
    (await server.call('GET', address, undefined, headers)).status;
  const link = async () => {
    const { body } = await server.call('POST', '/session/links', undefined, bearer(viewer));
    return (body.path as string).split('link=')[1] as string;
  };
  const uses: [string, () => Promise<number>][] = [
    ['a ticket for another address', async () => await get(`/jobs?ticket=${await ticket(path)}`)],
    [
      'a ticket for an address of another role',
      async () => await get(`/audit/export?ticket=${await ticket('/audit/export')}`),
    ],
    ['two tickets', async () => await ticket(path).then((text) => get(`${path}?ticket=${text}&ticket=${text}`))],
    ['a ticket as a token', async () => await get('/jobs', bearer(await ticket('/jobs')))],
    [
      'a ticket a second time',
      async () => {
        const text = await ticket(path);
        await get(`${path}?ticket=${text}`);
        return await get(`${path}?ticket=${text}`);
      },
    ],
    [
      'a ticket ten times at once',
      async () => {
        const text = await ticket(path);
        const statuses = await Promise.all(Array.from({ length: 10 }, () => get(`${path}?ticket=${text}`)));
        return statuses.filter((status) => status === 200).length > 1 ? 200 : 401;
      },
    ],
    [
      'a ticket for HEAD',
      async () => (await send(server, { method: 'HEAD', path: `${path}?ticket=${await ticket(path)}` })).status,
    ],
    ['a link as a token', async () => await get('/jobs', bearer(await link()))],
    [
      'a link a second time',
      async () => {
        const code = await link();
        await server.call('POST', '/session', undefined, bearer(code));
        return (await server.call('POST', '/session', undefined, bearer(code))).status;
      },
    ],
  ];
  return uses.map(([name, attempt]) => ({
    group: 'sessions, tickets and links',
    name,
    attempt: () => attempt().then((status) => (isOneOf(server, status, [401, 403]) ? null : `answered ${status}`)),
  }));
}

const DETOURS = [
  '/%74okens',
  '//tokens',
  '/tokens/',
  '/tokens;x',
  '/TOKENS',
  '/./tokens',
  '/jobs/..;/tokens',
  '/jobs/%2e%2e/tokens',
  '/jobs/..%2ftokens',
  '/tokens%00',
  '/tokens%20',
  '/tokens?',
  '/tokens#x',
  '/health/../tokens',
  '/ready%2f..%2ftokens',
  '/docs/../tokens',
];

/** Other spellings of an address that a viewer may not read, and headers that two programs may read differently. */
export async function detourAttacks(server: Target): Promise<Attack[]> {
  const host = `host: 127.0.0.1:${server.port}`;
  const viewer = `authorization: Bearer ${await tokenOf(server, { name: 'detours', role: 'viewer' })}`;
  const detours = DETOURS.flatMap((path) =>
    [[host], [host, viewer]].map((headers) => ({
      group: 'detours to an address',
      name: `${path} ${headers.length === 1 ? 'without a token' : 'as a viewer'}`,
      attempt: () => refused(server, { path, headers }, [400, 401, 403, 404]),
    })),
  );
  const admin = `Bearer ${ADMIN_TOKEN}`;
  const smuggled: [string, string[], string?][] = [
    ['a wrong token before a valid one', ['authorization: Bearer wrong', `authorization: ${admin}`]],
    ['a blank before the colon', [`authorization : ${admin}`]],
    ['a header behind a bare line feed', [`x-a: b\nauthorization: ${admin}`]],
    ['a folded token', [`authorization:\r\n ${admin}`]],
    ['a vertical tab before chunked', ['transfer-encoding:\x0bchunked', 'content-length: 3'], 'POST'],
    ['two codings', ['transfer-encoding: chunked', 'transfer-encoding: identity'], 'POST'],
    ['an upgrade to HTTP/2', ['connection: upgrade, http2-settings', 'upgrade: h2c', 'http2-settings: AAMAAABk']],
    ['an upgrade to a web socket', ['connection: upgrade', 'upgrade: websocket']],
  ];
  return [
    ...detours,
    ...smuggled.map(([name, lines, method = 'GET']) => ({
      group: 'detours to an address',
      name,
      attempt: () => refused(server, { method, headers: [host, ...lines] }, [0, 400, 401]),
    })),
  ];
}
