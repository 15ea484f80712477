/** What the server can be set to, the library can be set to: by the same names, parsers and defaults. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { isWorkronError, job, type OpenOptions, open, type StartOptions } from '../../src/index.ts';
import { nodeSettings } from '../../src/library/settings.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { loadSettings } from '../../src/ops/settings/load.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import type { Store } from '../../src/store/store.ts';
import { eventually } from '../kit/eventually.ts';
import { loadFactor } from '../kit/load-factor.ts';
import { temporaryFolder } from '../kit/workron-process.ts';

const DURATIONS = [
  'lease',
  'heartbeat',
  'reapEvery',
  'retentionDone',
  'retentionFailed',
  'retentionLedger',
  'retentionAudit',
  'retentionStats',
] as const satisfies (keyof OpenOptions)[];

const flagOf = (option: string) => option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function serverSettings(flags: Record<string, string>) {
  return loadSettings({ command: 'up', flags, env: {} });
}

/** The settings of a node among those of a server. */
function nodeOf({ leaseMs, heartbeatMs, reapEveryMs, ...settings }: ReturnType<typeof serverSettings>) {
  const { retentionDoneMs, retentionFailedMs, retentionLedgerMs, retentionAuditMs, retentionStatsMs } = settings;
  const leases = { leaseMs, heartbeatMs, reapEveryMs };
  return { ...leases, retentionDoneMs, retentionFailedMs, retentionLedgerMs, retentionAuditMs, retentionStatsMs };
}

test('settings: the defaults of the library are those of the server', () => {
  assert.deepEqual(nodeSettings({}), nodeOf(serverSettings({})));
});

test('settings: a duration means the same to the library and the server, as text or in milliseconds', () => {
  const given = { lease: '2m', heartbeat: '1m', reapEvery: '100ms', retentionDone: '0s', retentionFailed: '1h30m' };
  const more = { retentionLedger: '1.5d', retentionAudit: '2d', retentionStats: 60_000 };
  const flags = Object.entries({ ...given, ...more }).map(([option, value]) => [flagOf(option), String(value)]);
  assert.deepEqual(nodeSettings({ ...given, ...more }), nodeOf(serverSettings(Object.fromEntries(flags))));
});

test('settings: a short lease shortens the defaults of heartbeat and reapEvery', () => {
  const { heartbeatMs, reapEveryMs } = nodeSettings({ lease: '3s' });
  assert.deepEqual([heartbeatMs, reapEveryMs], [1_000, 3_000]);
});

test('settings: what the server refuses the library refuses, and says which option is wrong', async () => {
  for (const option of DURATIONS) {
    for (const value of ['soon', '', '-1s', -1, 1.5, Number.NaN]) {
      const got = typeof value === 'string' ? `"${value}"` : String(value);
      const message = `${option}: expected a duration such as 90s, 1h30m or 7d, got ${got}`;
      await assert.rejects(open('memory:', { log: 'silent', [option]: value }), { code: 'bad_request', message });
      assert.throws(() => serverSettings({ [flagOf(option)]: String(value) }), { name: 'SettingsError' });
    }
  }
  await assert.rejects(open('memory:', { lease: '999ms' }), {
    code: 'bad_request',
    message: 'lease: expected a duration of at least 1s, got "999ms"',
  });
  await assert.rejects(open('memory:', { heartbeat: 99 }), {
    message: 'heartbeat: expected a duration of at least 100ms, got 99',
  });
  await assert.rejects(open('memory:', { reapEvery: '99ms' }), {
    message: 'reapEvery: expected a duration of at least 100ms, got "99ms"',
  });
  await assert.rejects(open('memory:', { lease: '8s', heartbeat: '5s' }), {
    message: 'heartbeat: expected at most half of lease (8s), got 5s',
  });
  await assert.rejects(open('memory:', { heartbeat: '16s' }), {
    message: 'heartbeat: expected at most half of lease (30s), got 16s',
  });
});

test('settings: over HTTP the settings of the server cannot be set', async () => {
  for (const option of DURATIONS.slice(2)) {
    await assert.rejects(open('http://127.0.0.1:1', { [option]: '1d' }), {
      code: 'bad_request',
      message: `${option}: configure it on the server; an HTTP client cannot set it`,
    });
  }
  const client = await open('http://127.0.0.1:1', { lease: '1m', heartbeat: '10s' });
  await assert.rejects(client.mount(), {
    code: 'bad_request',
    message: 'mount() needs a local store; the remote server already serves the API',
  });
});

test('settings: retention, ledger and reap interval reach the duties', async () => {
  const seen: { prune?: unknown; ledgerMs?: number; reaps: number[] } = { reaps: [] };
  const noting = (inner: Store): Store => ({
    ...inner,
    fenced: (fence) => noting(inner.fenced(fence)),
    prune(retention, limit, signal) {
      seen.prune = retention;
      return inner.prune(retention, limit, signal);
    },
    pruneTicks(keepMs, limit, signal) {
      seen.ledgerMs = keepMs;
      return inner.pruneTicks(keepMs, limit, signal);
    },
    findLost(request, signal) {
      seen.reaps.push(performance.now());
      return inner.findLost(request, signal);
    },
  });
  const store = noting(openMemory({ clock: systemClock }));
  await using workron = await open(store, {
    log: 'silent',
    lease: Math.round(2_000 * loadFactor()),
    reapEvery: '100ms',
    retentionDone: '1h',
    retentionFailed: '2h',
    retentionStats: '3h',
    retentionLedger: '4h',
  });
  await workron.start();
  await eventually(async () => seen.reaps.length >= 5);
  const gaps = seen.reaps.slice(1).map((at, index) => at - (seen.reaps[index] as number));
  // With the default of `reapEvery`, every gap would be about a lease.
  assert.ok(Math.min(...gaps) < 500 * loadFactor(), `the reaper's rounds are ${gaps.join(', ')} ms apart`);
  await eventually(async () => seen.ledgerMs !== undefined);
  assert.deepEqual(seen.prune, { doneMs: 3_600_000, otherMs: 7_200_000, statsMs: 10_800_000 });
  assert.equal(seen.ledgerMs, 14_400_000);
});

test('settings: jobs are deleted once their retention is over, and no others', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'jobs.db');
  const good = job('good', { run: () => 'good' });
  const bad = job('bad', { maxAttempts: 1, run: () => Promise.reject(new Error('bad')) });
  const first = await open(file, { log: 'silent' });
  await first.start({ jobs: [good, bad], duties: false });
  const [done, failed] = [await first.submit(good), await first.submit(bad)];
  await Promise.all([done.ended(), failed.ended()]);
  await first.stop();

  await using second = await open(file, { log: 'silent', retentionDone: 0 });
  await second.start();
  const isGone = (error: unknown) => isWorkronError(error, 'job_not_found');
  await eventually(async () => await second.job(done.id).then(() => false, isGone));
  assert.equal((await second.job(failed.id)).status, 'failed');
});

test('settings: runAs of start is the user of commands, and of nobody else', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  const whoami = job('whoami', { run: () => process.getuid?.() });
  const own = process.getuid?.();
  const refused = own === 0 ? 'runAs: no user "no-such-user" on this machine' : /^runAs: only a process of root can/;
  await assert.rejects(workron.start({ jobs: [whoami], runAs: 'no-such-user' }), {
    code: 'bad_request',
    message: refused,
  });
  if (own !== 0) return;
  await workron.start({ jobs: [whoami], commands: true, runAs: 'nobody' });
  const command =
    'echo "uid=$(id -u)\nno_new_privs=$(awk \'/NoNewPrivs/{print $2}\' /proc/self/status)" > "$WORKRON_OUTPUT"';
  const { id } = await workron.submitCommand(command);
  await eventually(async () => (await workron.job(id)).status === 'done');
  const nobody = execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' }).trim();
  assert.deepEqual((await workron.job(id)).result, { uid: nobody, no_new_privs: '1' });
  assert.equal(await (await workron.submit(whoami)).result(), 0);
});

test('settings: drainTimeout of start is what stop uses, unless it has a timeout of its own', async () => {
  const stubborn = job('stubborn', {
    killGrace: '50ms',
    run: (_: void, { signal }) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
  });
  const workron = await open('memory:', { log: 'silent' });
  await workron.start({ jobs: [stubborn], drainTimeout: '50ms', pidNamespace: 'off' });
  const handle = await workron.submit(stubborn);
  await eventually(async () => (await handle.job()).status === 'running');
  // The job ends only when it is told to: without a drainTimeout, this would never resolve.
  await workron.stop();

  await using other = await open('memory:', { log: 'silent' });
  const options: StartOptions = { jobs: [stubborn], drainTimeout: 'never' };
  await assert.rejects(other.start(options), {
    code: 'bad_request',
    message: 'drainTimeout: expected a duration such as 90s, 1h30m or 7d, got "never"',
  });
  await other.start({ jobs: [stubborn], drainTimeout: 'off' });
});
