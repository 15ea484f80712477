/** Clients that are slow, and many of them. Others must be answered meanwhile, and the slow ones must not stay for ever. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openTestServer } from '../kit/http.ts';
import { loadFactor } from '../kit/load-factor.ts';
import { ADMIN_TOKEN, type Attack, bearer, type Make, type Target } from './attack.ts';

/** Headers must be complete after 20 s, which Node checks every 30 s. */
const HEADERS_MS = 60_000;
const ANSWER_MS = 2_000;
const CONNECTIONS = 2_000;

/** They begin at once, beside each other. */
export async function slowAttacks(stack: AsyncDisposableStack): Promise<Make> {
  const target = stack.use(await openTestServer({ token: ADMIN_TOKEN }));
  const attacks: [string, () => Promise<string | null>][] = [
    ['headers that come byte by byte are cut off', () => slowHeaders(target)],
    ['a connection on which nothing comes is cut off', () => silent(target)],
    ['a body that never comes, without a token, is not waited for', () => bodyWithoutToken(target)],
    [`${CONNECTIONS} connections keep nobody from being answered`, () => beside(target, CONNECTIONS, () => '')],
    ['200 slow heads keep nobody from being answered', () => beside(target, 200, () => 'GET / HTTP/1.1\r\n')],
    ['200 slow bodies keep nobody from being answered', () => beside(target, 200, () => head(target, ADMIN_TOKEN))],
  ];
  const attempted = attacks.map(([name, attempt]): Attack => {
    const outcome = attempt();
    outcome.catch(() => undefined);
    return { group: 'slow and many clients', name, attempt: () => outcome };
  });
  return () => attempted;
}

function dial({ port }: Target): Socket {
  return connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
}

function head({ port }: Target, token: string): string {
  const lines = [
    'POST /jobs HTTP/1.1',
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    'content-length: 9',
  ];
  return `${[...lines, `authorization: Bearer ${token}`].join('\r\n')}\r\n\r\n{`;
}

async function closedWithin(socket: Socket, ms: number): Promise<string | null> {
  const closed = once(socket.resume(), 'close').then(() => true);
  const isClosed = await Promise.race([closed, sleep(ms, false, { ref: false })]);
  socket.destroy();
  return isClosed ? null : `it was still open after ${ms / 1_000} s`;
}

async function slowHeaders(target: Target): Promise<string | null> {
  const socket = dial(target);
  socket.write('GET /jobs HTTP/1.1\r\nx-a: ');
  const drip = setInterval(() => socket.write('a'), 500);
  socket.once('close', () => clearInterval(drip));
  return await closedWithin(socket, HEADERS_MS * loadFactor());
}

const silent = (target: Target) => closedWithin(dial(target), HEADERS_MS * loadFactor());

async function bodyWithoutToken(target: Target): Promise<string | null> {
  const socket = dial(target);
  socket.write(head(target, 'wrong'));
  const answered = once(socket, 'data').then(([data]) => String(data).slice(0, 12));
  const status = await Promise.race([answered, sleep(ANSWER_MS * loadFactor(), 'nothing', { ref: false })]);
  socket.destroy();
  return status.startsWith('HTTP/1.1 401') ? null : `answered ${status}`;
}

async function beside(target: Target, count: number, first: () => string): Promise<string | null> {
  const sockets = Array.from({ length: count }, () => dial(target));
  try {
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) socket.write(first());
    const startedAt = performance.now();
    const { status } = await target.call('GET', '/jobs', undefined, bearer(ADMIN_TOKEN));
    const tookMs = performance.now() - startedAt;
    return status === 200 && tookMs < ANSWER_MS * loadFactor() ? null : `answered ${status} after ${tookMs} ms`;
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}
