/** `npm run attack`: tries every attack of the table on servers of its own, on the loopback, and prints what got through. */

import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openTestServer } from '../kit/http.ts';
import { startWorkron, temporaryFolder } from '../kit/workron-process.ts';
import { type Attack, tryAll } from './attack.ts';
import { ADMIN_TOKEN } from './http-attacks.ts';
import { allHttpAttacks } from './http-table.ts';
import { jobAttacks, machineAttacks, whyNoOtherUser } from './machine-attacks.ts';
import { proxyServers } from './proxy-attacks.ts';

const stack = new AsyncDisposableStack();
const open = stack.use(await openTestServer());
const guarded = stack.use(await openTestServer({ token: ADMIN_TOKEN, maxGuesses: 1_000 }));
const proxies = await proxyServers();
const [near, far] = [stack.use(proxies.near), stack.use(proxies.far)];
const attacks: Attack[] = await allHttpAttacks({ open, guarded, near, far });

const skipped = whyNoOtherUser();
if (skipped === undefined) {
  const folder = stack.use(await temporaryFolder()).path;
  await writeFile(join(folder, 'keys'), randomBytes(32).toString('base64'), { mode: 0o600 });
  await writeFile(join(folder, 'token'), ADMIN_TOKEN, { mode: 0o600 });
  const files = ['--db-url', join(folder, 'jobs.db'), '--secrets-key-file', join(folder, 'keys')];
  const args = ['up', '--port', '0', ...files, '--token-file', join(folder, 'token'), '--log-level', 'error'];
  // Without a namespace jobs see all processes.
  const isolation = ['--run-as', 'nobody', '--pid-namespace', 'off'];
  const server = stack.use(await startWorkron({ args: [...args, ...isolation] }));
  const target = { pid: server.pid, folder, url: server.url };
  attacks.push(...machineAttacks(target), ...jobAttacks(target, ADMIN_TOKEN));
}

const results = await tryAll(attacks);
const width = Math.max(...results.map(({ group }) => group.length));
console.log(`${'group'.padEnd(width)}  cases  got through`);
for (const { group, cases, through } of results) {
  console.log(`${group.padEnd(width)}  ${String(cases).padStart(5)}  ${String(through.length).padStart(11)}`);
}
const through = results.flatMap(({ group, through: found }) => found.map((one) => ({ group, ...one })));
for (const { group, name, what } of through) console.log(`\nGOT THROUGH: ${group}: ${name}\n  ${what}`);
if (skipped !== undefined) console.log(`\nattacks of another user were not tried: ${skipped}`);
console.log(`\n${attacks.length} attacks, ${through.length} got through`);
await stack.disposeAsync();
process.exitCode = through.length === 0 ? 0 : 1;
