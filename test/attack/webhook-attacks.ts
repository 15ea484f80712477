/** Webhooks to names whose address changes from one question to the next. */

import dns, { type LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { listOf } from '../../src/worker/webhook/private-address.ts';
import { webhookHandler } from '../../src/worker/webhook/webhook.ts';
import { ScriptedSource } from '../kit/scripted-source.ts';
import { TestWorker } from '../kit/worker.ts';
import type { Attack } from './attack.ts';

/** All on the loopback: one address is allowed, and the receiver listens on another. */
const ALLOWED = '127.0.0.9';
const FORBIDDEN = '127.0.0.1';

/** What a resolver answers to the first question, the second, and all others. */
const ANSWERS: Record<string, readonly string[][]> = {
  'first an allowed address, then another': [[ALLOWED], [FORBIDDEN]],
  'first two, then the other alone': [[ALLOWED, FORBIDDEN], [FORBIDDEN]],
  'both, the other first': [[FORBIDDEN, ALLOWED]],
  'the other alone': [[FORBIDDEN]],
  'the other, mapped into IPv6': [['::ffff:127.0.0.1']],
  'the other, in hexadecimal in IPv6': [['::ffff:7f00:1']],
  'the other through NAT64': [['64:ff9b::7f00:1']],
  'an allowed one, then the other mapped': [[ALLOWED], ['::ffff:127.0.0.1']],
};

export function webhookAttacks(): Attack[] {
  const attacks = Object.entries(ANSWERS).flatMap(([name, answers]) =>
    ['http', 'https'].map((scheme) => ({
      group: 'names whose address changes',
      name: `${scheme}: ${name}`,
      attempt: async () => ((await connections(scheme, answers, [ALLOWED])) === 0 ? null : 'it was connected to'),
    })),
  );
  // Without this, the others prove nothing.
  const control = {
    group: 'names whose address changes',
    name: 'one that is allowed is connected to',
    attempt: async () => ((await connections('http', [[FORBIDDEN]], [FORBIDDEN])) > 0 ? null : 'it was not'),
  };
  return [...attacks, control];
}

/** Delivers twice, and returns how often the other address was connected to. */
async function connections(scheme: string, answers: readonly string[][], allowed: string[]): Promise<number> {
  let connected = 0;
  const server = createServer((socket) => {
    connected += 1;
    socket.on('error', () => undefined).end('HTTP/1.1 204 No Content\r\n\r\n');
  });
  server.listen(0, FORBIDDEN);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { lookup } = dns;
  Object.assign(dns, { lookup: resolverOf(answers) });
  syncBuiltinESMExports();
  try {
    const source = new ScriptedSource();
    const hook = webhookHandler({ allowed: listOf(allowed), version: '0' });
    await using _worker = new TestWorker(source, { handlers: { hook } });
    const input = { url: `${scheme}://rebinds.example:${port}/`, body: '{}', signature: null };
    for (let delivery = 0; delivery < 2; delivery += 1) {
      const [id] = source.submit({ handler: 'hook', input, timeoutMs: 5_000 }) as [number];
      await source.outcome(id);
    }
    return connected;
  } finally {
    Object.assign(dns, { lookup });
    syncBuiltinESMExports();
    server.close();
  }
}

function resolverOf(answers: readonly string[][]) {
  let questions = 0;
  return (_name: string, options: { all?: boolean }, callback: (...args: unknown[]) => void): void => {
    const addresses = answers[Math.min(questions, answers.length - 1)] ?? [];
    questions += 1;
    const found = addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 }));
    if (options.all) callback(null, found);
    else callback(null, found[0]?.address, found[0]?.family);
  };
}
