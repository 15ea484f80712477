/** Attacks over HTTP: hosts, origins, methods, paths, bodies, tokens, roles. */

import { ROLE_SCOPES } from '../../src/api/route.ts';
import { routes } from '../../src/api/routes.ts';
import { TOKEN_ROLES } from '../../src/core/token.ts';
import { ADMIN_TOKEN, type Attack, refused, send, type Target, tokenOf } from './attack.ts';

const JOB = '{"command":"echo hi"}';
const JSON_TYPE = 'content-type: application/json';

const FOREIGN_HOSTS = [
  'evil.example',
  'evil.example:8080',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '127.0.0.1.nip.io',
  'evil.localhost.example',
  '10.0.0.7',
  '192.168.1.1',
  '169.254.169.254',
  '0.0.0.0',
  '[::2]',
  '[fe80::1]',
  'localhost@evil.example',
  'evil.example#localhost',
  'localhost%00.evil.example',
  'xn--lcalhost-hcb',
  '2130706434',
  '0x7f000002',
  'workron',
  '',
];

const FOREIGN_ORIGINS = [
  'https://evil.example',
  'http://localhost.evil.example',
  'http://127.0.0.1.evil.example',
  'http://evil.example:8080',
  'null',
  'file://',
  'http://localhost:1',
  'https://localhost:1',
  'chrome-extension://abcdef',
  'data:text/html,x',
  'http://[::2]',
  'http://user@evil.example',
];

/** A server without a token answers to names of this machine only. */
export function hostAttacks(open: Target): Attack[] {
  const hosts = FOREIGN_HOSTS.flatMap((host) =>
    (['GET', 'POST'] as const).map((method) => ({
      group: 'hosts without a token',
      name: `${method} with Host ${JSON.stringify(host)}`,
      attempt: () =>
        refused(
          open,
          { method, headers: [`host: ${host}`, JSON_TYPE], body: method === 'POST' ? JOB : '' },
          [400, 403],
        ),
    })),
  );
  const own = `host: 127.0.0.1:${open.port}`;
  const twice: Attack[] = [
    ['two Hosts', [own, 'host: evil.example'], '/jobs'],
    ['two Hosts, the other order', ['host: evil.example', own], '/jobs'],
    ['an absolute target', [own], 'http://evil.example/jobs'],
    ['an absolute target of another scheme', [own], 'ftp://evil.example/jobs'],
    ['no Host', [], '/jobs'],
  ].map(([name, headers, path]) => ({
    group: 'hosts without a token',
    name: name as string,
    attempt: () => refused(open, { path: path as string, headers: headers as string[] }, [400, 403, 404]),
  }));
  return [...hosts, ...twice];
}

/** Requests that pages of other sites can cause. */
export function originAttacks(open: Target): Attack[] {
  const own = `host: 127.0.0.1:${open.port}`;
  const origins = FOREIGN_ORIGINS.flatMap((origin) =>
    [
      ['POST', '/jobs', JOB],
      ['POST', '/jobs/1/cancel', '{}'],
      ['GET', '/jobs', ''],
    ].map(([method = '', path = '', body = '']) => ({
      group: 'origins',
      name: `${method} ${path} from ${origin}`,
      attempt: () => refused(open, { method, path, headers: [own, `origin: ${origin}`, JSON_TYPE], body }, [403]),
    })),
  );
  const sites = ['cross-site', 'same-site'].flatMap((site) =>
    ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/json'].map((type) => ({
      group: 'origins',
      name: `a form of a page that is ${site}, as ${type}`,
      attempt: () =>
        refused(
          open,
          { method: 'POST', headers: [own, `sec-fetch-site: ${site}`, `content-type: ${type}`], body: JOB },
          [403, 415],
        ),
    })),
  );
  return [...origins, ...sites];
}

const METHODS = [
  'TRACE',
  'TRACK',
  'CONNECT',
  'PROPFIND',
  'MOVE',
  'COPY',
  'LINK',
  'PURGE',
  'SEARCH',
  'DEBUG',
  'get',
  'FOO',
];

const TRAVERSALS = [
  '/ui/../package.json',
  '/ui/../../etc/passwd',
  '/ui/%2e%2e/package.json',
  '/ui/%2e%2e%2fpackage.json',
  '/ui/..%2f..%2fetc%2fpasswd',
  '/ui/..%5c..%5cetc%5cpasswd',
  '/ui/....//....//etc/passwd',
  '/ui/%252e%252e/package.json',
  '/ui//etc/passwd',
  '/ui/%00',
  '/ui/index.html%00.js',
  '/ui/assets/../../src/index.ts',
  '/ui/assets/%2e%2e/%2e%2e/package.json',
  `/ui/${'/'.repeat(7_000)}`,
  `/ui/${'../'.repeat(500)}etc/passwd`,
  '/docs/../package.json',
  '/docs/%2e%2e/package.json',
  '/docs/..%2f..%2fetc%2fpasswd',
];

export function addressAttacks(open: Target): Attack[] {
  const headers = [`host: 127.0.0.1:${open.port}`];
  const methods = METHODS.flatMap((method) =>
    ['/jobs', '/ui/', '/'].map((path) => ({
      group: 'methods',
      name: `${method} ${path}`,
      attempt: () => refused(open, { method, path, headers }, [0, 400, 403, 404, 405, 501]),
    })),
  );
  const traversals = TRAVERSALS.map((path) => ({
    group: 'paths',
    name: path.slice(0, 60),
    async attempt() {
      const { status, text } = await send(open, { path, headers });
      if (status >= 500) return `answered ${status}`;
      return /root:x:0|"devDependencies"|export \* from/.test(text) ? 'a file outside of the page' : null;
    },
  }));
  const smuggled: Attack[] = [
    ['two lengths', ['content-length: 5', 'content-length: 6']],
    ['length and chunks', ['content-length: 5', 'transfer-encoding: chunked']],
    ['an unknown coding', ['transfer-encoding: xchunked']],
    ['a folded header', ['x-a: b\r\n c: d']],
    ['a header with NUL', ['x-a: \0']],
    ['too many headers', Array.from({ length: 3_000 }, (_, index) => `x-${index}: ${'y'.repeat(20)}`)],
    ['a negative length', ['content-length: -1']],
    ['a huge length', ['content-length: 99999999999']],
  ].map(([name, lines]) => ({
    group: 'paths',
    name: name as string,
    attempt: () =>
      refused(
        open,
        { method: 'POST', headers: [...headers, JSON_TYPE, ...(lines as string[])] },
        [0, 400, 408, 413, 431],
      ),
  }));
  return [...methods, ...traversals, ...smuggled];
}

const DEEP = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;

const BODIES: readonly (readonly [name: string, path: string, body: string | Buffer])[] = [
  ['no body', '/jobs', ' '],
  ['half a document', '/jobs', '{"command":'],
  ['two documents', '/jobs', '{"command":"a"}{"command":"b"}'],
  ['a comment', '/jobs', '{"command":"a"/**/}'],
  ['NaN', '/jobs', '{"command":"a","priority":NaN}'],
  ['a number', '/jobs', '7'],
  ['a text', '/jobs', '"x"'],
  ['null', '/jobs', 'null'],
  ['a deep array', '/jobs', `{"handler":"h","input":${DEEP}}`],
  ['a deep array at the top', '/jobs', DEEP],
  ['__proto__', '/jobs', '{"command":"a","__proto__":{"admin":true}}'],
  ['constructor', '/jobs', '{"command":"a","constructor":{"prototype":{"x":1}}}'],
  ['an unknown field', '/jobs', '{"command":"a","uid":0}'],
  ['command and handler', '/jobs', '{"command":"a","handler":"b"}'],
  ['a list as the command', '/jobs', '{"command":["sh","-c","id"]}'],
  ['an empty command', '/jobs', '{"command":""}'],
  ['a blank command', '/jobs', '{"command":"  "}'],
  ['NUL in the command', '/jobs', '{"command":"a\\u0000b"}'],
  ['a lone surrogate', '/jobs', '{"command":"\\ud800"}'],
  ['bytes that are not UTF-8', '/jobs', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
  ['a control character in the name', '/jobs', '{"command":"a","name":"a\\u001b[2J"}'],
  ['a direction override in the name', '/jobs', '{"command":"a","name":"a\\u202egpj.exe"}'],
  ['a line break in the queue', '/jobs', '{"command":"a","queue":"a\\nb"}'],
  ['a huge priority', '/jobs', '{"command":"a","priority":99999999}'],
  ['a fraction as priority', '/jobs', '{"command":"a","priority":0.5}'],
  ['a negative timeout', '/jobs', '{"command":"a","timeout":-1}'],
  ['an endless timeout', '/jobs', '{"command":"a","timeout":"99999999999d"}'],
  ['an endless grace', '/jobs', '{"command":"a","kill_grace":"2h"}'],
  ['a variable with =', '/jobs', '{"command":"a","env":{"A=B":"c"}}'],
  ['a variable that is a number', '/jobs', '{"command":"a","env":{"A":1}}'],
  ['a secret with a path', '/jobs', '{"command":"a","env":{"A":{"secret":"../x"}}}'],
  ['a secret with more', '/jobs', '{"command":"a","env":{"A":{"secret":"x","value":"y"}}}'],
  ['a job that depends on itself', '/jobs', '{"command":"a","depends_on":["999999999"]}'],
  ['an id of another type', '/jobs', '{"command":"a","depends_on":[1]}'],
  ['an id beyond 2^53', '/jobs', '{"command":"a","depends_on":["9007199254740993"]}'],
  ['a webhook to a file', '/jobs', '{"command":"a","notify":[{"on":["failed"],"webhook":"file:///etc/passwd"}]}'],
  ['a webhook with a script', '/jobs', '{"command":"a","notify":[{"on":["failed"],"webhook":"javascript:1"}]}'],
  ['every job in one bulk', '/jobs/bulk', '{"action":"cancel","filter":{}}'],
  ['an unknown bulk action', '/jobs/bulk', '{"action":"explode","filter":{"queue":"a"}}'],
  ['a filter with SQL', '/jobs/bulk', '{"action":"cancel","filter":{"status":["x\'; drop table job; --"]}}'],
  [
    'a workflow of cycles',
    '/workflows',
    '{"name":"w","steps":[{"key":"a","command":"a","after":["b"]},{"key":"b","command":"b","after":["a"]}]}',
  ],
  ['a schedule that never fires', '/schedules', '{"name":"s","cron":"0 0 31 2 *","job":{"command":"a"}}'],
  ['a schedule named ..', '/schedules', '{"name":"../x","cron":"@daily","job":{"command":"a"}}'],
  ['a token of an unknown role', '/tokens', '{"name":"x","role":"root"}'],
  ['a token with a reserved name', '/tokens', '{"name":"local","role":"admin"}'],
];

const QUERIES = [
  '/jobs?limit=0',
  '/jobs?limit=100000',
  '/jobs?limit=1&limit=2',
  '/jobs?cursor=%00',
  '/jobs?cursor=YmVmb3JlOi0x',
  "/jobs?status='%20or%201=1",
  '/jobs?worker_id=1e9',
  '/jobs/0',
  '/jobs/-1',
  '/jobs/9007199254740993',
  '/jobs/1e3',
  '/jobs/%2e%2e',
  '/jobs/1/logs?attempt=9007199254740991',
  '/jobs/1/wait?timeout=99d',
  '/workers?cursor=x',
  '/stats?from=0&to=x',
];

export function bodyAttacks(open: Target): Attack[] {
  const headers = [`host: 127.0.0.1:${open.port}`, JSON_TYPE];
  const bodies = BODIES.map(([name, path, body]) => ({
    group: 'bodies',
    name,
    attempt: () => refused(open, { method: 'POST', path, headers, body }, [400, 409, 413]),
  }));
  const types = ['text/plain', 'text/xml', 'application/x-yaml', 'multipart/form-data; boundary=x'].map((type) => ({
    group: 'bodies',
    name: `a body that calls itself ${type}`,
    attempt: () =>
      refused(
        open,
        { method: 'POST', headers: [headers[0] as string, `content-type: ${type}`], body: '<a/>' },
        [400, 415],
      ),
  }));
  const large: Attack = {
    group: 'bodies',
    name: 'a job of two megabytes',
    attempt: () =>
      refused(open, { method: 'POST', headers, body: `{"command":"${'x'.repeat(2_000_000)}"}` }, [413, 400]),
  };
  const queries = QUERIES.filter((path) => !(open.resolvesDots && path.includes('%2e'))).map((path) => ({
    group: 'queries',
    name: path,
    attempt: () => refused(open, { path, headers: [headers[0] as string] }, [400, 404]),
  }));
  return [...bodies, ...types, large, ...queries];
}

const WRONG_TOKENS = [
  '',
  'Bearer',
  'Bearer ',
  'Bearer wrong',
  `Bearer ${ADMIN_TOKEN}x`,
  `Bearer ${ADMIN_TOKEN.slice(0, -1)}`,
  `Bearer ${ADMIN_TOKEN.toUpperCase()}`,
  `Bearer x ${ADMIN_TOKEN}`,
  `Bearer ${ADMIN_TOKEN},x`,
  `Basic ${Buffer.from(`:${ADMIN_TOKEN}`).toString('base64')}`,
  `Token ${ADMIN_TOKEN}`,
  ADMIN_TOKEN,
  'Bearer undefined',
  'Bearer null',
  'Bearer wkr_',
  `Bearer wkr_${'A'.repeat(43)}`,
  `Bearer ${'a'.repeat(8_000)}`,
  'Bearer é',
];

export function tokenAttacks(guarded: Target): Attack[] {
  const host = `host: 127.0.0.1:${guarded.port}`;
  const wrong = WRONG_TOKENS.flatMap((value) =>
    [
      ['GET', '/jobs', ''],
      ['POST', '/jobs', JOB],
    ].map(([method = '', path = '', body = '']) => ({
      group: 'tokens',
      name: `${method} ${path} with ${JSON.stringify(value.slice(0, 40))}`,
      attempt: () => {
        const headers = [host, JSON_TYPE, ...(value === '' ? [] : [`authorization: ${value}`])];
        return refused(guarded, { method, path, headers, body }, [400, 401, 429, 431]);
      },
    })),
  );
  const elsewhere: Attack[] = [
    ['in the query', `/jobs?token=${ADMIN_TOKEN}`, []],
    ['in the query, as access_token', `/jobs?access_token=${ADMIN_TOKEN}`, []],
    ['in a cookie', '/jobs', [`cookie: token=${ADMIN_TOKEN}`]],
    ['in X-Token', '/jobs', [`x-token: ${ADMIN_TOKEN}`]],
    ['a forwarded address', '/jobs', ['x-forwarded-for: 127.0.0.1', 'forwarded: for=127.0.0.1']],
    ['a user that a proxy names', '/jobs', ['x-forwarded-user: admin', 'x-forwarded-email: admin@example.org']],
    ['another method by header', '/jobs', ['x-http-method-override: POST']],
  ].map(([name, path, headers]) => ({
    group: 'tokens',
    name: `the token ${name as string}`,
    attempt: () =>
      refused(guarded, { path: path as string, headers: [host, ...(headers as string[])] }, [400, 401, 429]),
  }));
  return [...wrong, ...elsewhere];
}

/** Every route that a role has no right to, with a token of that role. */
export async function roleAttacks(guarded: Target): Promise<Attack[]> {
  const attacks: Attack[] = [];
  for (const role of TOKEN_ROLES) {
    const token = await tokenOf(guarded, { name: `attack-${role}`, role });
    for (const route of Object.values(routes)) {
      const { scope, forHolder } = route as { scope: string | null; forHolder?: boolean };
      if (scope === null || (ROLE_SCOPES[role] as readonly string[]).includes(scope)) continue;
      if (forHolder && role === 'worker') continue;
      const path = route.path.replaceAll(/:\w+/g, '1');
      attacks.push({
        group: `role ${role}`,
        name: `${route.method} ${route.path}`,
        attempt: () =>
          refused(
            guarded,
            {
              method: route.method,
              path,
              headers: [`host: 127.0.0.1:${guarded.port}`, JSON_TYPE, `authorization: Bearer ${token}`],
              body: route.method === 'GET' ? '' : '{}',
            },
            [403],
          ),
      });
    }
  }
  return attacks;
}
