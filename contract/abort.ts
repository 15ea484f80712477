import assert from 'node:assert/strict';
import { transition } from '../src/core/transition.ts';
import type { Store } from '../src/store/store.ts';
import { aJob, anOffer, aStepWrite, aWorker, jobs } from './kit/builders.ts';
import { claimOne, forever, type Lease, readOne, submitOne, success } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';
import { anEntry, aRotation, aSession, aToken } from './kit/tokens.ts';

const RETENTION = { doneMs: 0, otherMs: 0, statsMs: 0 };

/** Every call that takes a signal. */
function callsOf(store: Store, lease: Lease, waitingId: number): ((signal: AbortSignal) => Promise<unknown>)[] {
  const { workerId } = lease;
  const { id: jobId, attempt } = lease.job;
  const flag = async () => transition(await readOne(store, jobId), { type: 'cancel' }, 0) ?? assert.fail();
  return [
    (signal) => store.now(signal),
    (signal) => store.checkWritable(signal),
    (signal) => store.insert([aJob()], {}, signal),
    (signal) => store.insertAndClaim([aJob()], { workerId, limit: 1, offer: anOffer(), claimSeq: 1 }, signal),
    (signal) => store.claim({ workerId, limit: 1, offer: anOffer(), claimSeq: 1 }, signal),
    (signal) => store.heartbeat({ workerId, leases: [], seenClaim: 1 }, signal),
    (signal) => store.settle([success(lease)], signal),
    async (signal) => store.applyChanges([await flag()], signal),
    (signal) => store.edit(waitingId, { priority: 9 }, signal),
    (signal) => store.promote(10, signal),
    (signal) => store.healParkings({ after: 0, limit: 10 }, signal),
    (signal) => store.findExpired(10, signal),
    (signal) => store.leases(signal),
    (signal) => store.findLost({ limit: 10 }, signal),
    (signal) => store.findUnlocked(signal),
    (signal) => store.retireWorkers({ forgetAfterMs: 0, silent: [] }, signal),
    (signal) => store.deleteJobs([waitingId], signal),
    (signal) => store.deleteWorkflow(1, signal),
    (signal) => store.sweep('stat', RETENTION, 10, signal),
    (signal) => store.prune(RETENTION, 10, signal),
    (signal) => store.read([jobId], signal),
    (signal) => store.list({}, { before: null, limit: 10 }, signal),
    (signal) => store.count({}, 10, signal),
    (signal) => store.attempts(jobId, signal),
    (signal) => store.countAhead(jobId, 10, signal),
    (signal) => store.outlook(waitingId, signal),
    (signal) => store.placeGangs(signal),
    (signal) => store.incompleteGangs(signal),
    (signal) => store.places(signal),
    (signal) => store.gangs(['g'], signal),
    (signal) => store.stopGang('g', 1, signal),
    (signal) => store.dropPlaces([{ gangId: 'g', term: 1, unlessStarted: false }], signal),
    (signal) => store.appendLogs([{ jobId, attempt, workerId, offset: 0, data: Buffer.from('x') }], signal),
    (signal) => store.readLog({ jobId, attempt, from: 0, maxBytes: 10 }, signal),
    (signal) =>
      store.writeCheckpoint(
        { jobId, attempt, workerId, upload: 1, offset: 0, data: Buffer.from('x'), complete: { kind: 'bytes' } },
        signal,
      ),
    (signal) => store.checkpoint(jobId, signal),
    (signal) => store.writeSteps([{ jobId, attempt, workerId, ...aStepWrite('step') }], signal),
    (signal) => store.claimSteps([jobId], signal),
    (signal) => store.jobSteps(jobId, 0, signal),
    (signal) => store.openSteps(jobId, signal),
    (signal) => store.noteUnused({ jobId, attempt, workerId, names: ['step'] }, signal),
    (signal) => store.forgetFailedSteps([jobId], signal),
    (signal) => store.readCheckpoint({ jobId, upload: 1, offset: 0 }, signal),
    (signal) => store.limits(signal),
    (signal) => store.setLimit('key', 1, signal),
    (signal) => store.rates(signal),
    (signal) => store.closeRate('key', 1, signal),
    (signal) => store.meterUse(['limit:key'], signal),
    (signal) => store.countAheadAt('limit:key', 1, 1, signal),
    (signal) => store.holders('key', 1, signal),
    (signal) => store.findSkippable(10, signal),
    (signal) => store.queues(signal),
    (signal) => store.setQueue('default', { paused: true }, signal),
    (signal) => store.deleteQueue('default', signal),
    (signal) => store.registerWorker(aWorker(), signal),
    (signal) => store.limitWorkers(0, signal),
    (signal) => store.countWorkersOf('ada', signal),
    (signal) => store.workers(signal),
    (signal) => store.worker(workerId, signal),
    (signal) => store.drainWorker(workerId, signal),
    (signal) => store.undrainWorker(workerId, signal),
    (signal) => store.leaveWorker(workerId, signal),
    (signal) => store.createToken(aToken(), signal),
    (signal) => store.rotateToken(aRotation(), signal),
    (signal) => store.revokeToken('ci', signal),
    (signal) => store.putSecret({ name: 's', keyId: 'k', sealed: 'x' }, signal),
    (signal) => store.resealSecret({ name: 's', keyId: 'k', sealed: 'x' }, 'y', signal),
    (signal) => store.deleteSecret('s', signal),
    (signal) => store.secrets(null, signal),
    (signal) => store.tokens(signal),
    (signal) => store.validTokens(signal),
    (signal) => store.touchTokens([1], signal),
    (signal) => store.pruneTokens(0, signal),
    (signal) => store.createSession(aSession(), signal),
    (signal) => store.useSession('hash', 60_000, signal),
    (signal) => store.takeSession('hash', 'link', signal),
    (signal) => store.pruneSessions(60_000, signal),
    (signal) => store.putDefinition({ name: 'etl', source: '', body: '' }, [], signal),
    (signal) => store.definition('etl', null, signal),
    (signal) => store.definitions({ after: null, limit: 10 }, signal),
    (signal) => store.definitionVersions('etl', { before: null, limit: 10 }, signal),
    (signal) => store.deleteDefinition('etl', signal),
    (signal) => store.schedulesUsing('etl', signal),
    (signal) => store.addAudit([anEntry()], signal),
    (signal) => store.endAudit([1], { result: 'ok', details: null }, signal),
    (signal) => store.auditOf(['job/1'], 10, signal),
    (signal) => store.audit({}, { before: null, limit: 1 }, signal),
    (signal) => store.pruneAudit(0, 10, signal),
    (signal) => store.addStats([], signal),
    (signal) => store.stats({ from: 0, to: 1 }, signal),
    (signal) => store.createOperation({ action: 'cancel', filter: {}, total: 0, askedBy: null }, signal),
    (signal) => store.operation(1, signal),
    (signal) => store.openOperations(signal),
    (signal) => store.advanceOperation(1, null, { cursor: 1, changed: 0, skipped: 0, status: 'done' }, signal),
  ];
}

/** Everything that a call could have changed. */
async function everything(store: Store) {
  const listed = await store.list({}, { before: null, limit: 100 }, forever);
  return {
    jobs: listed,
    attempts: await Promise.all(listed.map(({ id }) => store.attempts(id, forever))),
    queues: await store.queues(forever),
    workers: await store.workers(forever),
    tokens: await store.tokens(forever),
    definitions: await store.definitions({ after: null, limit: 10 }, forever),
    secrets: await store.secrets(null, forever),
    operations: await store.openOperations(forever),
  };
}

export function exerciseAbort(open: OpenStore): void {
  const test = withStore(open);

  test('abort: a call with an aborted signal rejects with the reason of the signal and changes nothing', async ({
    store,
    advance,
  }) => {
    const lease = await claimOne(store, aJob());
    const waiting = await submitOne(store, aJob());
    await submitOne(store, aJob({ delayMs: 1_000 }));
    await advance(2_000);
    const before = await everything(store);
    const reason = new Error('the caller has gone');
    const aborted = AbortSignal.abort(reason);
    for (const call of callsOf(store, lease, waiting.id)) {
      await assert.rejects(call(aborted), (error) => error === reason, String(call));
    }
    assert.deepEqual(await everything(store), before);
  });

  test('abort: a call that is aborted in flight takes effect completely or not at all', async ({ store }) => {
    for (let round = 0; round < 5; round += 1) {
      const tags = [`round ${round}`];
      const controller = new AbortController();
      const inserted = store.insert(jobs(20, { tags }), {}, controller.signal).then(
        () => true,
        () => false,
      );
      queueMicrotask(() => controller.abort());
      const answered = await inserted;
      const added = await store.count({ tags }, 1_000, forever);
      // An aborted call may still be committed a moment later, but only as a whole.
      if (answered) assert.equal(added, 20);
      else assert.ok(added === 0 || added === 20, `${added} of 20 were stored`);
    }
  });
}
