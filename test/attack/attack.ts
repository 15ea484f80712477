/** One attack: what is tried, and what shows that it was repelled. */

import { connect } from 'node:net';
import type { TestServer } from '../kit/http.ts';

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

/** A request exactly as given: fetch would correct or refuse what attackers send. */
export async function send({ port }: Pick<TestServer, 'port'>, request: RawRequest): Promise<RawAnswer> {
  const { method = 'GET', path = '/jobs', headers = [`host: 127.0.0.1:${port}`], body = '' } = request;
  const length = body.length > 0 ? [`content-length: ${Buffer.byteLength(body)}`] : [];
  const head = [`${method} ${path} HTTP/1.1`, ...headers, ...length, 'connection: close', '', ''].join('\r\n');
  return await new Promise((resolve) => {
    let text = '';
    const socket = connect({ port, host: '127.0.0.1' });
    const done = (): void => resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text });
    socket.setTimeout(10_000, () => socket.destroy());
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      // An answer that never ends, such as a stream, has got through.
      if (text.length > 1_000_000) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', done);
    socket.end(Buffer.concat([Buffer.from(head), Buffer.from(body)]));
  });
}

/** Repelled if the status is one of these; nothing else may be answered. */
export async function refused(
  server: Pick<TestServer, 'port'>,
  request: RawRequest,
  statuses: readonly number[],
): Promise<string | null> {
  const { status, text } = await send(server, request);
  return statuses.includes(status) ? null : `answered ${status}: ${text.split('\r\n\r\n')[1]?.slice(0, 80) ?? ''}`;
}

interface GroupResult {
  group: string;
  cases: number;
  through: { name: string; what: string }[];
}

/** Tries them group by group. */
export async function tryAll(attacks: readonly Attack[]): Promise<GroupResult[]> {
  const results = new Map<string, GroupResult>();
  for (const { group, name, attempt } of attacks) {
    const result = results.get(group) ?? { group, cases: 0, through: [] };
    results.set(group, result);
    result.cases += 1;
    const what = await attempt().catch((error: unknown) => `threw ${String(error)}`);
    if (what !== null) result.through.push({ name, what });
  }
  return [...results.values()];
}
