/** Requests that two programs in a row may cut differently, and addresses that they may read differently. */

import { connect, type Socket } from 'node:net';
import { type Attack, asAdmin, refused, type Target } from './attack.ts';
import type { Ground } from './ground.ts';

const COMMAND = 'echo smuggled';
const JOB = JSON.stringify({ command: COMMAND });

/** A second request inside of the first. The server must not answer it, whoever's connection it comes in. */
function inner({ port, prefix = '' }: Target): string {
  return [
    `POST ${prefix}/jobs HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    `content-length: ${JOB.length}`,
    '',
    JOB,
  ].join('\r\n');
}

/** Ways to hide it: header lines, and what follows them. */
const WRAPPINGS: Record<string, (hidden: string) => [lines: string[], body: string]> = {
  'behind the last chunk, with a length of all': (hidden) => [
    ['transfer-encoding: chunked', `content-length: ${hidden.length + 5}`],
    `0\r\n\r\n${hidden}`,
  ],
  'behind a length of zero, with chunks': (hidden) => [
    ['content-length: 0', 'transfer-encoding: chunked'],
    `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`,
  ],
  'behind a coding that only one knows': (hidden) => [['transfer-encoding: chunked, identity'], `0\r\n\r\n${hidden}`],
  'behind a coding with a tab': (hidden) => [
    [`content-length: ${hidden.length + 5}`, 'transfer-encoding:\tchunked'],
    `0\r\n\r\n${hidden}`,
  ],
  'behind a coding in a folded line': (hidden) => [
    [`content-length: ${hidden.length + 5}`, 'transfer-encoding:\r\n chunked'],
    `0\r\n\r\n${hidden}`,
  ],
  'behind two lengths': (hidden) => [['content-length: 0', `content-length: ${hidden.length}`], hidden],
  'behind a length with a sign': (hidden) => [[`content-length: +${hidden.length}`], hidden],
  'behind a length in hexadecimal': (hidden) => [[`content-length: 0x${hidden.length.toString(16)}`], hidden],
  'behind a chunk whose length overflows': (hidden) => [
    ['transfer-encoding: chunked'],
    `10000000000000000\r\n${hidden}`,
  ],
  'behind an extension of a chunk': (hidden) => [['transfer-encoding: chunked'], `0;a=\n${hidden}\r\n\r\n`],
  'in a trailer': (hidden) => [['transfer-encoding: chunked'], `0\r\nx: y\r\n${hidden}\r\n\r\n`],
  'behind a bare line feed': (hidden) => [['content-length: 0\n'], hidden],
};

/** Addresses that are outside of a prefix, or that a router in front may take for another. */
const ADDRESSES = [
  '/../jobs',
  '/%2e%2e/jobs',
  '/..;/jobs',
  '\\jobs',
  '/jobs%2f..%2ftokens',
  '//jobs',
  '/./jobs',
  '/jobs/%2e%2e',
];

/** On a server without a token, a second request that is taken for one is obeyed. */
export function smugglingAttacks({ open, guarded }: Pick<Ground, 'open' | 'guarded'>): Attack[] {
  const group = 'requests inside of requests';
  const wrapped = [open, guarded].flatMap((target) =>
    ['GET', 'POST'].flatMap((method) =>
      Object.entries(WRAPPINGS).map(([name, wrap]) => ({
        group,
        name: `${name} of a ${method}, ${target === open ? 'without' : 'with'} a token`,
        attempt: () => smuggle(target, method, wrap(inner(target))),
      })),
    ),
  );
  const addresses = ADDRESSES.map((path) => ({
    group,
    name: `the address ${path}`,
    attempt: () => refused(guarded, { path, headers: [`host: 127.0.0.1:${guarded.port}`] }, [400, 401, 403, 404]),
  }));
  // The last, since it stores the job. Without it, the others prove nothing.
  const control = {
    group,
    name: 'a second request that is not hidden is answered',
    async attempt() {
      const found = await smuggle(open, 'GET', [['content-length: 0'], inner(open)]);
      return found === 'its job was stored' ? null : 'its job was not stored';
    },
  };
  return [...wrapped, ...addresses, control];
}

/** Nobody's job may be stored, and the next caller must get the answer to its own request. */
async function smuggle(target: Target, method: string, [lines, body]: [string[], string]): Promise<string | null> {
  const { port, prefix = '', dial = () => connect({ port, host: '127.0.0.1' }) } = target;
  const head = [
    `${method} ${prefix}/jobs HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    ...lines,
  ];
  await exchange(dial(), `${head.join('\r\n')}\r\n\r\n${body}`);
  const next = await target.call('GET', '/queues', undefined, asAdmin);
  if (next.status !== 200 || next.body.items === undefined) return `the next caller was answered ${next.status}`;
  const { body: found } = await target.call('GET', '/jobs?limit=1', undefined, asAdmin);
  return JSON.stringify(found).includes(COMMAND) ? 'its job was stored' : null;
}

/** Sends everything at once, and waits for an answer and then for a moment, as long as the server keeps the connection. */
function exchange(socket: Socket, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    socket.on('error', () => undefined).on('close', () => resolve());
    socket.on('data', () => socket.setTimeout(20, () => socket.destroy()));
    socket.setTimeout(500, () => socket.destroy());
    socket.write(bytes, 'latin1');
  });
}
