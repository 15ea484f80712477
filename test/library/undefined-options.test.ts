/** An option that is `undefined` is one that was not given, such as a variable of the environment that is not set. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '../../src/client.ts';
import {
  Fatal,
  type GangOptions,
  type JobOptions,
  job,
  type Notify,
  type OpenOptions,
  open,
  RateLimited,
  type ScheduleRules,
  type StartOptions,
  type SubmitOptions,
} from '../../src/index.ts';
import { openTestKit } from '../../src/testing.ts';
import { openTestServer } from '../kit/http.ts';

/** Every optional property, each as `undefined`: the compiler demands those that are missing. */
type Unset<T> = { [Key in keyof T as undefined extends T[Key] ? Key : never]-?: undefined };

const JOB: Unset<JobOptions> = {
  queue: undefined,
  priority: undefined,
  maxAttempts: undefined,
  backoff: undefined,
  timeout: undefined,
  startTimeout: undefined,
  killGrace: undefined,
  rerun: undefined,
  onDisconnect: undefined,
  sealInput: undefined,
  tags: undefined,
  requires: undefined,
  resources: undefined,
  limits: undefined,
  rates: undefined,
  onLimit: undefined,
  gang: undefined,
  notify: undefined,
};
const SUBMIT: Unset<SubmitOptions> = {
  ...JOB,
  name: undefined,
  delay: undefined,
  runAt: undefined,
  fairKey: undefined,
  env: undefined,
  dependsOn: undefined,
  unique: undefined,
  idempotencyKey: undefined,
  actor: undefined,
  tx: undefined,
  signal: undefined,
};
const OPEN: Unset<OpenOptions> = {
  token: undefined,
  ca: undefined,
  log: undefined,
  schema: undefined,
  poolSize: undefined,
  directUrl: undefined,
  preparedStatements: undefined,
  migrate: undefined,
  lease: undefined,
  heartbeat: undefined,
  reapEvery: undefined,
  retentionDone: undefined,
  retentionFailed: undefined,
  retentionLedger: undefined,
  retentionAudit: undefined,
  retentionStats: undefined,
  onError: undefined,
  middleware: undefined,
  tracing: undefined,
  notify: undefined,
  notifySecret: undefined,
  secretsKey: undefined,
  actor: undefined,
  publicUrl: undefined,
  notifyAllowPrivate: undefined,
};
const START: Unset<StartOptions> = {
  jobs: undefined,
  concurrency: undefined,
  queues: undefined,
  commands: undefined,
  tags: undefined,
  resources: undefined,
  name: undefined,
  duties: undefined,
  drainTimeout: undefined,
  pidNamespace: undefined,
  runAs: undefined,
};
const RULES: Unset<ScheduleRules> = {
  timezone: undefined,
  overlap: undefined,
  catchup: undefined,
  jitter: undefined,
  startAt: undefined,
  endAt: undefined,
  forEach: undefined,
  notify: undefined,
};
const GANG: Unset<GangOptions> = {
  min: undefined,
  spread: undefined,
  onMemberFailure: undefined,
  timeout: undefined,
  failFast: undefined,
};
const BACKOFF = { type: undefined, base: undefined, factor: undefined, cap: undefined, jitter: undefined };
const UNIQUE = { key: 'k', while: undefined, onConflict: undefined, wait: undefined, maxWait: undefined };
const NOTIFY: Notify = { on: ['failed'], command: 'true', lateAfter: undefined, slowAfter: undefined };
const CATCHUP = { policy: undefined, window: undefined, max: undefined };

const plain = job('plain', { ...JOB, isolate: undefined, run: (n: number) => n });
const nested = job('nested', {
  backoff: BACKOFF,
  notify: [NOTIFY],
  rates: [{ key: 'k', limit: 10, per: '1s', burst: undefined }],
  run: (n: number) => n,
});

for (const where of ['memory', 'http']) {
  test(`undefined options: they count as not given (${where})`, async () => {
    await using server = await openTestServer();
    const url = where === 'http' ? server.url : 'memory:';
    await using workron = await open(url, { ...OPEN, log: 'silent' });
    await workron.start({ ...START, jobs: [plain, nested], commands: true });
    const handle = await workron.submit(plain, 1, SUBMIT);
    assert.equal(await handle.result({ timeout: undefined, signal: undefined }), 1);
    assert.deepEqual(
      [(await handle.job()).queue, (await handle.job()).maxAttempts],
      ['default', (await (await workron.submit(plain, 1)).job()).maxAttempts],
    );
    const inner = await workron.submit(nested, 2, { ...SUBMIT, unique: UNIQUE });
    assert.equal(await inner.result(), 2);
    const gang = await workron.submit(plain, 3, { gang: { size: 2, ...GANG } });
    assert.equal(gang.members.length, 2);
    assert.equal((await (await workron.submitCommand('true', SUBMIT)).ended()).status, 'done');
    const options = { ...JOB, name: undefined, fairKey: undefined, env: undefined };
    await workron.schedule('cron', { cron: '0 2 * * *', ...RULES, job: plain, input: 1, options });
    await workron.schedule('every', {
      every: '1h',
      anchor: undefined,
      ...RULES,
      catchup: CATCHUP,
      command: 'true',
      options,
    });
    const schedule = workron.scheduleHandle('cron');
    const to = new Date();
    await schedule.backfill({ from: new Date(to.getTime() - 1_000), to, keys: undefined, dryRun: undefined });
    await workron.stop({ timeout: undefined });
  });
}

test('undefined options: of the mounted API, the test kit, the client and errors', async () => {
  await using kit = await openTestKit({ jobs: [plain], url: undefined, now: undefined, schema: undefined });
  await kit.workron.submit(plain, 1);
  assert.equal((await kit.runNext())?.status, 'done');
  const { fetch } = await kit.workron.mount({ authorize: undefined, prefix: undefined });
  assert.equal((await fetch(new Request('http://localhost/jobs'))).status, 200);
  await using server = await openTestServer();
  const client = new Client({ url: server.url, token: undefined, transport: undefined });
  const { id } = await client.submit({ command: 'true' }, { idempotencyKey: undefined, signal: undefined });
  assert.equal((await client.readJob(id, { signal: undefined })).status, 'pending');
  const fatal = new Fatal('no', { code: undefined, details: undefined });
  assert.deepEqual([fatal.code, fatal.details], [undefined, undefined]);
  assert.equal(new RateLimited('1s', { key: undefined, reason: undefined }).message, '');
});
