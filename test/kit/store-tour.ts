/** A tour through every call of a store on PostgreSQL that shows the statements of each. */

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { aJob, anOffer, aStep, aStepWrite, aWorker, aWorkflow, jobs } from '../../contract/kit/builders.ts';
import { after } from '../../contract/kit/graph.ts';
import { aSchedule, PERIOD } from '../../contract/kit/schedules.ts';
import { FAILED, forever, ids, type Lease, readOne, submit, success } from '../../contract/kit/steps.ts';
import { anEntry, aRotation, aSession, aToken } from '../../contract/kit/tokens.ts';
import { type Change, type JobEvent, transition } from '../../src/core/transition.ts';
import { SWEEPABLES } from '../../src/store/duty-store.ts';
import type { Store } from '../../src/store/store.ts';

type Seen = (call: string, text: string, values: readonly unknown[]) => void;

const calls = new AsyncLocalStorage<{ call: string; seen: Seen }>();
const { query } = pg.Client.prototype as { query: (this: unknown, ...args: unknown[]) => unknown };

/** Tells of the statements that calls send, with the name of the call. NOTIFY, which is sent after the answer, and the look at new lanes once in a while are left out. */
function watchStatements(): Disposable {
  pg.Client.prototype.query = function watched(this: unknown, ...args: unknown[]) {
    const [first] = args as [string | { text?: string; values?: unknown[] } | undefined];
    const { text = '', values = [] } = typeof first === 'string' ? { text: first } : (first ?? {});
    const current = calls.getStore();
    if (current !== undefined && !/pg_notify|^\s*set |'lane' as what/.test(text))
      current.seen(current.call, text, values);
    return query.apply(this, args);
  } as typeof pg.Client.prototype.query;
  return {
    [Symbol.dispose]() {
      pg.Client.prototype.query = query as typeof pg.Client.prototype.query;
    },
  };
}

/** The statements that a call sends. */
export async function statementsOf(perform: () => Promise<unknown>): Promise<string[]> {
  return (await queriesOf(perform)).map(({ text }) => text);
}

/** The statements that a call sends, with their parameters. */
export async function queriesOf(perform: () => Promise<unknown>): Promise<{ text: string; values: unknown[] }[]> {
  using _watching = watchStatements();
  const sent: { text: string; values: unknown[] }[] = [];
  await calls.run({ call: '', seen: (_, text, values) => sent.push({ text, values: [...values] }) }, perform);
  return sent;
}

const RETENTION = { doneMs: 1_000_000, otherMs: 1_000_000, statsMs: 1_000_000 };
const hundred = Array.from({ length: 100 }, (_, n) => n);
/** Of these, the sweep at the end of the tour finds nothing to delete. */
const FINDS_NONE: ReadonlySet<string> = new Set(['metered_start', 'gang']);
const gang = { id: 'g', size: 2, min: 2, spread: 'pack', onMemberFailure: 'continue', timeoutMs: 600_000 } as const;

/** A run through every call of a store, in a state in which it has something to do. */
class Tour {
  readonly #store: Store;
  readonly #seen: Seen;

  constructor(store: Store, seen: Seen) {
    this.#store = store;
    this.#seen = seen;
  }

  call<T>(name: string, perform: (store: Store) => Promise<T>): Promise<T> {
    return calls.run({ call: name, seen: this.#seen }, () => perform(this.#store));
  }

  async change(jobId: number, event: JobEvent): Promise<Change> {
    return transition(await readOne(this.#store, jobId), event, 0.5) ?? assert.fail();
  }

  async claim(name: string, workerId: number, limit: number): Promise<Lease[]> {
    const offer = anOffer({ handlers: ['h'] });
    const claimed = await this.call(name, (store) => store.claim({ workerId, limit, offer, claimSeq: 1 }, forever));
    assert.equal(claimed.length, limit, name);
    return claimed.map((job) => ({ job, workerId }));
  }
}

async function tourJobs(tour: Tour, store: Store): Promise<void> {
  const worker = await tour.call('registerWorker', () =>
    store.registerWorker(aWorker({ slots: 1_000, leaseMs: 3_600_000 }), forever),
  );
  await submit(store, [aJob()]);
  await tour.claim('claim (first)', worker.id, 1);
  await tour.call('insert 1', () => store.insert([aJob()], {}, forever));
  await tour.call('insert 100', () => store.insert(jobs(100), {}, forever));
  const [one] = await tour.claim('claim 1', worker.id, 1);
  const all = await tour.claim('claim 100', worker.id, 100);
  assert.ok(one);
  await tour.call('settle 1', () => store.settle([success(one)], forever));
  await tour.call('settle 100', () =>
    store.settle(
      all.map((lease) => success(lease, 1)),
      forever,
    ),
  );
  await tour.call('insertAndClaim', () =>
    store.insertAndClaim([aJob()], { workerId: worker.id, limit: 1, offer: anOffer(), claimSeq: 2 }, forever),
  );
  await tour.call('insert unique 100', () =>
    store.insert(
      hundred.map((n) => aJob({ unique: { key: `u${n}`, while: 'active', onConflict: 'existing' } })),
      {},
      forever,
    ),
  );
  await tour.call('insert idempotent', () =>
    store.insert([aJob()], { idempotency: { key: 'i', fingerprint: 'f' } }, forever),
  );
  await tour.call('insert limited 100', () =>
    store.insert(
      hundred.map((n) => aJob({ limits: [{ key: `k${n}`, max: 1 }] })),
      {},
      forever,
    ),
  );
  const held = await tour.claim('claim unique and limited', worker.id, 201);
  const failing = held.slice(0, 100);
  const failures = await Promise.all(
    failing.map(({ job }) => tour.change(job.id, { type: 'settle', outcome: FAILED })),
  );
  await tour.call('applyChanges fail 1', () => store.applyChanges(failures.slice(0, 1), forever));
  await tour.call('applyChanges fail 99', () => store.applyChanges(failures.slice(1), forever));
  await tour.call('settle limited 101', () =>
    store.settle(
      held.slice(100).map((lease) => success(lease)),
      forever,
    ),
  );
  await tour.call('heartbeat', () => store.heartbeat({ workerId: worker.id, leases: null, seenClaim: null }, forever));
  const waiting = ids(await submit(store, jobs(100, { queue: 'other' })));
  const [edited] = waiting;
  assert.ok(edited);
  await tour.call('edit', () => store.edit(edited, { priority: 9 }, forever));
  const cancels = await Promise.all(waiting.map((id) => tour.change(id, { type: 'cancel' })));
  await tour.call('applyChanges cancel 100', () => store.applyChanges(cancels, forever));
  const retries = await Promise.all(waiting.map((id) => tour.change(id, { type: 'retry' })));
  await tour.call('applyChanges retry 100', () => store.applyChanges(retries, forever));
  await tour.call('deleteJobs 100', () =>
    store.deleteJobs(
      all.map(({ job }) => job.id),
      forever,
    ),
  );
  await tour.call('read 100', () => store.read(waiting, forever));
  await tour.call('list', () => store.list({}, { before: null, limit: 100 }, forever));
  await tour.call('count', () => store.count({}, 1_000, forever));
  await tour.call('attempts', () => store.attempts(one.job.id, forever));
  await tour.call('countAhead', () => store.countAhead(edited, 1_000, forever));
  await tour.call('outlook', () => store.outlook(edited, forever));
  await tourOutput(tour, store, worker.id);
}

async function tourOutput(tour: Tour, store: Store, workerId: number): Promise<void> {
  await submit(store, [aJob({ priority: 99 })]);
  const [lease] = await tour.claim('claim urgent', workerId, 1);
  assert.ok(lease);
  const { id: jobId, attempt } = lease.job;
  const at = { jobId, attempt, workerId };
  await tour.call('appendLogs 100', () =>
    store.appendLogs(
      hundred.map((n) => ({ ...at, offset: n, data: Buffer.from('x') })),
      forever,
    ),
  );
  await tour.call('readLog', () => store.readLog({ jobId, attempt, from: 0, maxBytes: 10 }, forever));
  await tour.call('report', () => store.report([{ ...at, progress: { fraction: 0.5, text: null } }], forever));
  await tour.call('writeCheckpoint', () =>
    store.writeCheckpoint(
      { ...at, upload: 1, offset: 0, data: Buffer.from('x'), complete: { kind: 'bytes' } },
      forever,
    ),
  );
  await tour.call('checkpoint', () => store.checkpoint(jobId, forever));
  const step = { ...at, ...aStepWrite('step') };
  await tour.call('writeSteps', () => store.writeSteps([step], forever));
  await tour.call('writeSteps again', () => store.writeSteps([{ ...step, name: 'other' }], forever));
  await tour.call('claimSteps', () => store.claimSteps([jobId], forever));
  await tour.call('jobSteps', () => store.jobSteps(jobId, 0, forever));
  await tour.call('openSteps', () => store.openSteps(jobId, forever));
  await tour.call('noteUnused', () => store.noteUnused({ ...at, names: ['step'] }, forever));
  await tour.call('forgetFailedSteps', () => store.forgetFailedSteps([jobId], forever));
  await tour.call('readCheckpoint', () => store.readCheckpoint({ jobId, upload: 1, offset: 0 }, forever));
}

async function tourGraph(tour: Tour, store: Store): Promise<void> {
  const [parent] = await submit(store, [aJob({ queue: 'graph' })]);
  assert.ok(parent);
  await tour.call('insert children 100', () =>
    store.insert(
      hundred.map(() => after([parent])),
      {},
      forever,
    ),
  );
  const { workflow } = await tour.call('insertWorkflow 100', () =>
    store.insertWorkflow(aWorkflow(hundred.map((n) => aStep(`s${n}`, { parents: n === 0 ? [] : [0] }))), {}, forever),
  );
  await tour.call('workflow', () => store.workflow(workflow.id, forever));
  await tour.call('workflows', () => store.workflows({}, { before: null, limit: 10 }, forever));
  const listed = await tour.call('steps', () => store.steps(workflow.id, null, forever));
  await tour.call('skippedSteps', () => store.skippedSteps([workflow.id], forever));
  const cancelled = await tour.change(listed[0]?.job.id as number, { type: 'cancel' });
  await tour.call('applyChanges cancel a step', () => store.applyChanges([cancelled], forever));
  const stopped = await tour.change(parent.id, { type: 'cancel' });
  await tour.call('applyChanges cancel a parent of 100', () => store.applyChanges([stopped], forever));
  await tour.call('graphWork', () => store.graphWork(forever));
  await tour.call('cascade (nothing)', () => store.cascade(1_000, forever));
  const reopened = await tour.change(parent.id, { type: 'retry' });
  await tour.call('applyChanges retry a parent of 100', () => store.applyChanges([reopened], forever));
  await tour.call('insertWorkflow of a group', () =>
    store.insertWorkflow(aWorkflow([aStep('each', { forEach: { items: hundred, maxParallel: null } })]), {}, forever),
  );
  await tour.call('expand 100', () => store.expand(100, forever));
  await tour.call('adopt (nothing)', () => store.adopt(100, forever));
  await tour.call('deleteWorkflow', () => store.deleteWorkflow(workflow.id, forever));
}

async function tourSchedules(tour: Tour, store: Store, advance: (ms: number) => Promise<void>): Promise<void> {
  const anchor = await store.now(forever);
  await tour.call('putDefinition', () => store.putDefinition({ name: 'etl', source: 's', body: '{}' }, [], forever));
  await tour.call('definition', () => store.definition('etl', null, forever));
  await tour.call('definitions', () => store.definitions({ after: null, limit: 10 }, forever));
  await tour.call('definitionVersions', () => store.definitionVersions('etl', { before: null, limit: 10 }, forever));
  await tour.call('schedulesUsing', () => store.schedulesUsing('etl', forever));
  await tour.call('deleteDefinition', () => store.deleteDefinition('etl', forever));
  await tour.call('createSchedule', () => store.createSchedule(aSchedule({ anchor }), forever));
  for (const n of hundred) await store.createSchedule(aSchedule({ name: `s${n}`, anchor }), forever);
  await advance(PERIOD);
  const ticked = await tour.call('tick 101', () => store.tick({ limit: 1_000 }, forever));
  assert.equal(ticked.ticks.length, 101);
  await tour.call('tick (nothing)', () => store.tick({ limit: 1_000 }, forever));
  await tour.call('schedule', () => store.schedule('nightly', forever));
  await tour.call('schedules', () => store.schedules({}, { after: null, limit: 1_000 }, forever));
  await tour.call('ticks', () => store.ticks('nightly', {}, { before: null, limit: 10 }, forever));
  await tour.call('recentTicks', () => store.recentTicks({ schedules: ['nightly', 's1'], from: 0, each: 10 }, forever));
  await tour.call('runStates', () =>
    store.runStates(
      ticked.ticks.map(({ id }) => id),
      forever,
    ),
  );
  await tour.call('stoppedOthers', () => store.stoppedOthers([1], forever));
  await tour.call('ticksWithoutRun', () =>
    store.ticksWithoutRun('nightly', { key: '', instants: [anchor - PERIOD] }, forever),
  );
  await tour.call('runSchedule 3', () =>
    store.runSchedule(
      'nightly',
      { kind: 'backfill', keys: null, instants: [1, 2, 3].map((n) => anchor - n * PERIOD) },
      {},
      forever,
    ),
  );
  await tour.call('changeSchedule', () =>
    store.changeSchedule(
      'nightly',
      { change: { type: 'edit', edit: { timezone: 'Europe/Berlin' } }, at: null, limit: 100 },
      forever,
    ),
  );
  await tour.call('pruneTicks', () => store.pruneTicks(0, 1_000, forever));
  await tour.call('deleteSchedule', () => store.deleteSchedule('nightly', forever));
}

async function tourCluster(tour: Tour, store: Store, advance: (ms: number) => Promise<void>): Promise<void> {
  const worker = await store.registerWorker(aWorker({ slots: 4, leaseMs: 3_600_000 }), forever);
  await submit(
    store,
    [0, 1].map((rank) => aJob({ tags: ['gang:g'], maxAttempts: 1, gang: { ...gang, rank } })),
  );
  await tour.call('placeGangs', () => store.placeGangs(forever));
  await tour.call('incompleteGangs', () => store.incompleteGangs(forever));
  await tour.call('places', () => store.places(forever));
  await tour.call('gangs', () => store.gangs(['g'], forever));
  await tour.call('stopGang', () => store.stopGang('g', 1, forever));
  await tour.call('dropPlaces', () => store.dropPlaces([{ gangId: 'g', term: 1, unlessStarted: false }], forever));
  await tour.call('setLimit', () => store.setLimit('key', 1, forever));
  await tour.call('limits', () => store.limits(forever));
  await tour.call('closeRate', () => store.closeRate('key', 1_000, forever));
  await tour.call('rates', () => store.rates(forever));
  await tour.call('meterUse', () => store.meterUse(['limit:key'], forever));
  await tour.call('countAheadAt', () => store.countAheadAt('limit:key', 1, 1, forever));
  await tour.call('holders', () => store.holders('key', 1, forever));
  await tour.call('findSkippable', () => store.findSkippable(10, forever));
  await tour.call('healParkings (nothing)', () => store.healParkings({ after: 0, limit: 10 }, forever));
  await tour.call('setQueue', () => store.setQueue('few', { maxRunning: 2 }, forever));
  await tour.call('queues', () => store.queues(forever));
  await tour.call('deleteQueue', () => store.deleteQueue('few', forever));
  await tour.call('workers', () => store.workers(forever));
  await tour.call('worker', () => store.worker(worker.id, forever));
  await tour.call('drainWorker', () => store.drainWorker(worker.id, forever));
  await tour.call('undrainWorker', () => store.undrainWorker(worker.id, forever));
  await tour.call('leases', () => store.leases(forever));
  await tour.call('findLost', () => store.findLost({ limit: 10 }, forever));
  await tour.call('retireWorkers', () => {
    const silent = [{ workerId: worker.id, jobId: null, heardAt: 0, leaseMs: 1 }];
    return store.retireWorkers({ forgetAfterMs: 0, silent }, forever);
  });
  await tour.call('leaveWorker', () => store.leaveWorker(worker.id, forever));
  await tour.call('beatInstance', () =>
    store.beatInstance({ id: 'i', host: 'h', pid: 1, roles: ['api'], version: '0', url: null, beatMs: 1_000 }, forever),
  );
  await tour.call('instances', () => store.instances(forever));
  await tour.call('forgetInstances', () => store.forgetInstances(0, forever));
  await tour.call('leaveInstance', () => store.leaveInstance('i', forever));
  await tour.call('addStats', () => store.addStats([], forever));
  await tour.call('stats', () => store.stats({ from: 0, to: 1 }, forever));
  const operation = await tour.call('createOperation', () =>
    store.createOperation({ action: 'cancel', filter: {}, total: 0, askedBy: null }, forever),
  );
  await tour.call('operation', () => store.operation(operation.id, forever));
  await tour.call('openOperations', () => store.openOperations(forever));
  await tour.call('advanceOperation', () =>
    store.advanceOperation(operation.id, null, { cursor: 1, changed: 0, skipped: 0, status: 'done' }, forever),
  );
  await tour.call('notices', () => store.notices(10, forever));
  await tour.call('notifications', () => store.notifications({ jobId: 1 }, forever));
  await tour.call('now', () => store.now(forever));
  await tour.call('promote', () => store.promote(100, forever));
  await tour.call('findExpired', () => store.findExpired(100, forever));
  await advance(2_000_000);
  for (const what of SWEEPABLES) {
    await tour.call(`sweep ${what}${FINDS_NONE.has(what) ? ' (nothing)' : ''}`, () =>
      store.sweep(what, RETENTION, 1_000, forever),
    );
  }
  const marks = await tour.call('markLanes', () => store.markLanes(1_000, forever));
  await tour.call('deleteLanes', () => store.deleteLanes(marks, forever));
  await tour.call('prune', () => store.prune(RETENTION, 1_000, forever));
}

async function tourAccess(tour: Tour, store: Store): Promise<void> {
  await tour.call('createToken', () => store.createToken(aToken(), forever));
  await tour.call('rotateToken', () => store.rotateToken(aRotation(), forever));
  await tour.call('tokens', () => store.tokens(forever));
  await tour.call('validTokens', () => store.validTokens(forever));
  await tour.call('touchTokens', () => store.touchTokens([1, 2], forever));
  await tour.call('revokeToken', () => store.revokeToken('ci', forever));
  await tour.call('pruneTokens', () => store.pruneTokens(0, forever));
  await tour.call('putSecret', () => store.putSecret({ name: 's', keyId: 'k', sealed: 'x' }, forever));
  await tour.call('resealSecret', () => store.resealSecret({ name: 's', keyId: 'k', sealed: 'y' }, 'x', forever));
  await tour.call('secrets', () => store.secrets(null, forever));
  await tour.call('deleteSecret', () => store.deleteSecret('s', forever));
  await tour.call('createSession', () => store.createSession(aSession(), forever));
  await tour.call('useSession', () => store.useSession('hash', 60_000, forever));
  await tour.call('takeSession', () => store.takeSession('hash', 'link', forever));
  await tour.call('pruneSessions', () => store.pruneSessions(60_000, forever));
  await tour.call('addAudit 100', () =>
    store.addAudit(
      hundred.map(() => anEntry()),
      forever,
    ),
  );
  await tour.call('endAudit 2', () => store.endAudit([1, 2], { result: 'ok', details: null }, forever));
  await tour.call('audit', () => store.audit({}, { before: null, limit: 10 }, forever));
  await tour.call('auditOf', () => store.auditOf(['job/1'], 10, forever));
  await tour.call('pruneAudit', () => store.pruneAudit(0, 1_000, forever));
}

/** Makes every call of the store, with 1 and with 100 rows where that may matter, and tells of the statements of each. */
export async function tourStore(store: Store, advance: (ms: number) => Promise<void>, seen: Seen): Promise<void> {
  using _watching = watchStatements();
  const tour = new Tour(store, seen);
  await tourJobs(tour, store);
  await tourGraph(tour, store);
  await tourSchedules(tour, store, advance);
  await tourCluster(tour, store, advance);
  await tourAccess(tour, store);
}
