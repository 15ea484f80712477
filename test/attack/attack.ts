/** One attack: what is tried, and what shows that it was repelled. */

import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import type { TokenRole } from '../../src/core/token.ts';
import type { TestServer } from '../kit/http.ts';

/** What is attacked: a server, as callers reach it. */
export interface Target extends Pick<TestServer, 'port' | 'call'> {
  /** What stands before every path, if the API is mounted in another server. */
  prefix?: string;
  /** A connection, if not plain TCP to the port. */
  dial?: () => Socket;
  /** Addresses reach it without their dots, as those of fetch do. */
  resolvesDots?: boolean;
  /** What a caller whom nobody knows is answered, if not 401. */
  unknown?: number;
  /** Makes a caller with a role, and returns its token, if not by `POST /tokens`. */
  admit?: (caller: Caller) => string;
}

export interface Caller {
  name: string;
  role: TokenRole;
  queues?: string[];
}

export interface Attack {
  group: string;
  name: string;
  /** Resolves with `null` if the attack was repelled, else with what got through. */
  attempt: () => Promise<string | null>;
}

export interface RawRequest {
  method?: string;
  path?: string;
  /** Complete header lines, so that a case can send two of a kind. */
  headers?: readonly string[];
  body?: string | Buffer;
}

interface RawAnswer {
  /** 0 if the connection was closed without an answer. */
  status: number;
  text: string;
}

/** The answer to a whole request comes earlier. */
const END_MS = 2_000;

/** A request exactly as given: fetch would correct or refuse what attackers send. */
export async function send(target: Target, request: RawRequest): Promise<RawAnswer> {
  const { port, prefix = '', dial = () => connect({ port, host: '127.0.0.1' }) } = target;
  const { method = 'GET', path = '/jobs', headers = [`host: 127.0.0.1:${port}`], body = '' } = request;
  const length = body.length > 0 ? [`content-length: ${Buffer.byteLength(body)}`] : [];
  const address = path.startsWith('/') ? `${prefix}${path}` : path;
  const head = [`${method} ${address} HTTP/1.1`, ...headers, ...length, 'connection: close', '', ''].join('\r\n');
  return await new Promise((resolve) => {
    let text = '';
    const socket = dial();
    const done = (): void => resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text });
    socket.setTimeout(10_000, () => socket.destroy());
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      // An answer that never ends, such as a stream, has got through.
      if (text.length > 1_000_000 || isWhole(text, method)) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', done);
    // A server that waits for more is told that nothing comes.
    const ending = setTimeout(() => socket.end(), END_MS);
    socket.once('close', () => clearTimeout(ending));
    socket.write(Buffer.concat([Buffer.from(head), Buffer.from(body)]));
  });
}

/** Whether the answer has come: a host in front may keep the connection. */
function isWhole(text: string, method: string): boolean {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  if (rest.length === 0) return false;
  const body = rest.join('\r\n\r\n');
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  if (method === 'HEAD' || /^HTTP\/1\.1 (204|304)/.test(head)) return true;
  return length === undefined ? text.endsWith('\r\n0\r\n\r\n') : body.length >= Number(length);
}

/** Repelled if the status is one of these; nothing else may be answered. */
export async function refused(
  server: Target,
  request: RawRequest,
  statuses: readonly number[],
): Promise<string | null> {
  const { status, text } = await send(server, request);
  return isOneOf(server, status, statuses)
    ? null
    : `answered ${status}: ${text.split('\r\n\r\n')[1]?.slice(0, 80) ?? ''}`;
}

/** Where 401 is expected, so is what else says it: 429 after many wrong tokens, which is no answer to a right one. */
export function isOneOf({ unknown = 401 }: Target, status: number, statuses: readonly number[]): boolean {
  return statuses.includes(status) || (statuses.includes(401) && [unknown, 429].includes(status));
}

export const ADMIN_TOKEN = 'the-configured-token-of-the-server';

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
export const asAdmin = bearer(ADMIN_TOKEN);

/** Returns the token of a new caller. */
export async function tokenOf(target: Target, caller: Caller): Promise<string> {
  if (target.admit !== undefined) return target.admit(caller);
  const { status, body } = await target.call('POST', '/tokens', caller, asAdmin);
  assert.equal(status, 201, `no token ${caller.name}: ${JSON.stringify(body)}`);
  return body.token as string;
}

export interface GroupResult {
  group: string;
  cases: number;
  through: { name: string; what: string }[];
}

/** Makes attacks on servers that are there. */
export type Make = () => Attack[] | Promise<Attack[]>;

/** Makes and tries them one after the other. */
export async function tryAll(makes: readonly Make[]): Promise<GroupResult[]> {
  const results = new Map<string, GroupResult>();
  for (const make of makes) {
    for (const { group, name, attempt } of await make()) {
      const result = results.get(group) ?? { group, cases: 0, through: [] };
      results.set(group, result);
      result.cases += 1;
      const what = await attempt().catch((error: unknown) => `threw ${String(error)}`);
      if (what !== null) result.through.push({ name, what });
    }
  }
  return [...results.values()];
}
