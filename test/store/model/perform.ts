import { aJob, anOffer, aStep, aWorker, aWorkflow } from '../../../contract/kit/builders.ts';
import { settleDown } from '../../../contract/kit/graph.ts';
import { forever, retireWorkers, silentLeases } from '../../../contract/kit/steps.ts';
import type { NewStep } from '../../../src/core/dag/new-workflow.ts';
import type { Job } from '../../../src/core/job.ts';
import type { JobEdit } from '../../../src/core/job-edit.ts';
import { type Change, type JobEvent, transition } from '../../../src/core/transition.ts';
import { SWEEPABLES } from '../../../src/store/duty-store.ts';
import type { Action, Ending, WantedJob, WantedStep } from './action.ts';
import { judgeGangs, succeedMembers } from './gangs.ts';
import { pickOf, STEP_MS, type World } from './world.ts';

/** Not a multiple of a step, so that no lease ends at the very moment at which somebody looks. */
const LEASE_MS = 4.5 * STEP_MS;
const LONG_LEASE_MS = 30.5 * STEP_MS;

/** As with leases, not multiples of a step. */
const RATE_MS = 2.5 * STEP_MS;
const GANG_TIMEOUT_MS = 8.5 * STEP_MS;

/** Far more than a call takes, far less than a part of a step. */
const APART_MS = 5_000;

/** Lets the action happen, and answers with what the store said. */
export async function perform(world: World, action: Action): Promise<unknown> {
  const { store } = world;
  switch (action.type) {
    case 'insert': {
      const now = await store.now(forever);
      const wanted = action.jobs.map((job, index) => newJob(world, job, now, index));
      const options = action.idempotency === null ? {} : { idempotency: action.idempotency };
      const { items, replayed } = await store.insert(wanted, options, forever);
      for (const { job } of items) world.learnJob(job.id);
      return { replayed, items: items.map(({ job, deduplicated }) => ({ id: job.id, deduplicated })) };
    }
    case 'workflow': {
      const steps = action.steps.map((step, place) => newStep(world, step, place));
      const { workflow } = await store.insertWorkflow(aWorkflow(steps, { params: { step: world.step } }), {}, forever);
      world.workflows.push(workflow.id);
      await learnJobs(world);
      const { id, ...rest } = workflow;
      return { workflowId: id, ...rest };
    }
    case 'register': {
      const leaseMs = action.patient ? LONG_LEASE_MS : LEASE_MS;
      const { id, ...row } = await store.registerWorker(aWorker({ leaseMs, resources: { m: 3 } }), forever);
      world.workers.push(id);
      return { workerId: id, ...row };
    }
    case 'claim': {
      const workerId = pickOf(world.workers, action.worker);
      if (workerId === undefined) return 'no worker';
      const claimSeq = action.counted ? (world.claimSeq += 1) : null;
      const { limit, prefetch } = action;
      const claimed = await store.claim({ workerId, limit, offer: offerOf(action), claimSeq, prefetch }, forever);
      for (const { id, attempt } of claimed) world.leases.push({ jobId: id, attempt, workerId });
      return claimed;
    }
    case 'hand': {
      const workerId = pickOf(world.workers, action.worker);
      if (workerId === undefined) return 'no worker';
      const now = await store.now(forever);
      const wanted = Array.from({ length: action.count }, () => newJob(world, action.job, now, 0));
      const offer = offerOf(action);
      const request = { workerId, limit: action.limit, offer, claimSeq: (world.claimSeq += 1) };
      const { items, claimed } = await store.insertAndClaim(wanted, request, forever);
      for (const { job } of items) world.learnJob(job.id);
      const taken = [...claimed];
      if (claimed.length < action.limit) {
        const used = claimed.reduce((sum, { resources }) => sum + (resources['m'] ?? 0), 0);
        const rest = { limit: action.limit - claimed.length, offer: { ...offer, free: { m: action.free - used } } };
        taken.push(...(await store.claim({ ...request, ...rest }, forever)));
      }
      for (const { id, attempt } of taken) world.leases.push({ jobId: id, attempt, workerId });
      return { items: items.map(({ job: { id, status } }) => ({ id, status })), taken };
    }
    case 'heartbeat': {
      const workerId = pickOf(world.workers, action.worker);
      if (workerId === undefined) return 'no worker';
      const mine = world.leases.filter((lease) => lease.workerId === workerId).slice(-4);
      const leases = action.drops === null ? null : mine.filter((_, index) => action.drops?.[index] !== true);
      const seenClaim = action.seen === 'uncounted' ? null : world.claimSeq - (action.seen === 'all' ? 0 : 2);
      const answer = await store.heartbeat({ workerId, leases, seenClaim }, forever);
      if (answer === undefined) return 'unknown';
      const { cancel, lost, drain, returned } = answer;
      const byId = (a: { jobId: number }, b: { jobId: number }) => a.jobId - b.jobId;
      return { cancel: cancel.sort(byId), lost: lost.sort(byId), drain, returned: returned.sort(byId) };
    }
    case 'settle': {
      const leases = action.leases.flatMap((pick) => world.lease(pick) ?? []);
      const answers = await store.settle(
        leases.map((lease) => ({ ...lease, exitCode: 0, result: { step: world.step } })),
        forever,
      );
      return { answers, members: await succeedMembers(world, leases) };
    }
    case 'checkpoint': {
      const lease = world.lease(action.lease);
      if (lease === undefined) return 'no lease';
      const { upload, offset, text } = action;
      const complete = action.complete ? ({ kind: 'bytes' } as const) : null;
      const piece = { ...lease, upload, offset, data: Buffer.from(text), complete };
      const written = await store.writeCheckpoint(piece, forever);
      const stored = await store.checkpoint(lease.jobId, forever);
      const pieces = [0, 4].map((at) => store.readCheckpoint({ jobId: lease.jobId, upload, offset: at }, forever));
      return {
        written,
        stored,
        pieces: (await Promise.all(pieces)).map((data) => data && Buffer.from(data).toString()),
      };
    }
    case 'report': {
      const lease = world.lease(action.lease);
      if (lease === undefined) return 'no lease';
      const [job] = await store.read([lease.jobId], forever);
      if (job?.status !== 'running' || job.attempt !== lease.attempt || job.workerId !== lease.workerId) return 'stale';
      return decide(world, job, { type: 'settle', outcome: outcomeOf(world, action.ending, action.fatal) });
    }
    case 'cancel':
    case 'retry': {
      const [job] = await store.read([pickOf(world.jobs, action.job) ?? 0], forever);
      if (job === undefined) return 'gone';
      return decide(
        world,
        job,
        action.type === 'retry' ? { type: 'retry' } : { type: 'cancel', keepChildren: action.quiet },
      );
    }
    case 'lose': {
      const dead =
        action.dead === null ? [] : world.workers.filter((id) => id === pickOf(world.workers, action.dead ?? 0));
      const lost = await store.findLost({ limit: 100, dead, silent: await silentLeases(store) }, forever);
      lost.sort((a, b) => a.job.id - b.job.id);
      const answers: unknown[] = [];
      for (const { job, workerSeenAt } of lost) {
        answers.push({ workerSeenAt, decided: await decide(world, job, { type: 'lose', workerSeenAt }) });
      }
      return answers;
    }
    case 'expire': {
      const expired = await store.findExpired(100, forever);
      expired.sort((a, b) => a.id - b.id);
      const answers: unknown[] = [];
      for (const job of expired) answers.push(await decide(world, job, { type: 'expire' }));
      return answers;
    }
    case 'skip': {
      const unwanted = await store.findSkippable(100, forever);
      const answers: unknown[] = [];
      for (const job of unwanted) answers.push(await decide(world, job, { type: 'skip' }));
      return answers;
    }
    case 'limit':
      return known(await store.setLimit(action.key, action.max, forever));
    case 'close':
      return known(await store.closeRate('r', world.delayMs(action.steps), forever));
    case 'stale': {
      const changes = firstOfEachJob(action.changes.flatMap((pick) => world.change(pick) ?? []));
      return store.applyChanges(changes, forever);
    }
    case 'edit': {
      const jobId = pickOf(world.jobs, action.job) ?? 0;
      const edit: JobEdit = {};
      if (action.priority !== null) edit.priority = action.priority;
      if (action.queue !== null) edit.queue = action.queue;
      if (action.runIn !== null) edit.runAt = (await store.now(forever)) + world.delayMs(action.runIn);
      return store.edit(jobId, edit, forever);
    }
    case 'promote':
      return store.promote(action.limit, forever);
    case 'queue': {
      const { queue, paused, maxRunning, rate } = action;
      const settings = {
        ...(paused === null ? {} : { paused }),
        ...(maxRunning === undefined ? {} : { maxRunning }),
        ...(rate === undefined ? {} : { rate: rate === null ? null : { limit: rate, perMs: RATE_MS, burst: 0 } }),
      };
      return store.setQueue(queue, settings, forever);
    }
    case 'drain':
    case 'undrain': {
      const workerId = pickOf(world.workers, action.worker) ?? 0;
      const row = await (action.type === 'drain'
        ? store.drainWorker(workerId, forever)
        : store.undrainWorker(workerId, forever));
      return row === undefined ? 'unknown' : { ...row, id: undefined, workerId: row.id };
    }
    case 'leave':
      return store.leaveWorker(pickOf(world.workers, action.worker) ?? 0, forever);
    case 'retire': {
      const retired = await retireWorkers(store, (action.forgetAfter + 0.5) * STEP_MS);
      return retired.map((id) => world.workers.indexOf(id)).sort((a, b) => a - b);
    }
    case 'delete': {
      const ids = action.jobs.map((job) => pickOf(world.jobs, job) ?? 0);
      const gone = await store.deleteJobs(ids, forever);
      const workflow = await store.deleteWorkflow(pickOf(world.workflows, action.workflow) ?? 0, forever);
      return { gone: gone.map((id) => world.jobs.indexOf(id)).sort((a, b) => a - b), workflow };
    }
    case 'prune': {
      const keepMs = (action.keep + 0.5) * STEP_MS;
      // All or nothing: which of two equally old jobs goes first is nobody's business.
      const retention = { doneMs: keepMs, otherMs: keepMs + 2 * STEP_MS, statsMs: keepMs };
      for (const what of SWEEPABLES) await store.sweep(what, retention, 1_000, forever);
      return store.prune(retention, 1_000, forever);
    }
    case 'log': {
      const lease = world.lease(action.lease);
      if (lease === undefined) return 'no lease';
      const chunk = { ...lease, offset: action.offset, data: Buffer.from(action.text) };
      const written = await store.appendLogs([chunk, chunk], forever);
      return { written, log: await store.readLog({ ...lease, from: 2, maxBytes: 100 }, forever) };
    }
    case 'look': {
      const jobId = pickOf(world.jobs, action.job) ?? 0;
      const ahead = [
        await store.countAhead(jobId, 100, forever),
        await store.countAheadAt('limit:l1', jobId, 100, forever),
        await store.countAheadAt('rate:r', jobId, 2, forever),
      ];
      const outlook = await store.outlook(jobId, forever);
      const found = await store.list(action.filter, { before: null, limit: 3 }, forever);
      return { ahead, outlook, found, count: await store.count(action.filter, 5, forever) };
    }
    case 'gang': {
      const { type: _type, size, spare, spread, rule: onMemberFailure, ...spec } = action;
      const min = onMemberFailure === 'continue' ? size : Math.max(1, size - spare);
      const gang = { id: `g${world.step}`, size, min, spread, onMemberFailure, timeoutMs: GANG_TIMEOUT_MS } as const;
      const members = Array.from({ length: size }, (_, rank) => aJob({ ...spec, gang: { ...gang, rank } }));
      const { items } = await store.insert(members, {}, forever);
      for (const { job } of items) world.learnJob(job.id);
      return items.map(({ job: { id, status } }) => ({ id, status }));
    }
    case 'place': {
      const count = await store.placeGangs(forever);
      const places = await store.places(forever);
      const ids = [...new Set(places.map(({ gangId }) => gangId))];
      const gangs = await store.gangs(ids, forever);
      const [first] = gangs;
      if (action.drops && first !== undefined) {
        const term = first.term - (action.late ? 1 : 0);
        await store.dropPlaces([{ gangId: first.id, term, unlessStarted: action.early }], forever);
      }
      return { count, gangs, places: places.map(({ until: _until, ...place }) => place) };
    }
    case 'judge':
      return judgeGangs(world);
    case 'wait':
      return world.wait(action.steps);
  }
}

/** Runs the graph duties until nothing is left to do. */
export async function runGraphDuties(world: World): Promise<void> {
  await settleDown(world.store);
  await learnJobs(world);
}

/** Those that the store made by itself have ids too. */
async function learnJobs(world: World): Promise<void> {
  const jobs = await world.store.list({}, { before: null, limit: 1_000 }, forever);
  for (const { id } of jobs.reverse()) world.learnJob(id);
}

/** What has become of all jobs, workflows, queues and workers. */
export async function observe({ store }: World): Promise<unknown> {
  const workers = await store.workers(forever);
  const workflows = await store.workflows({}, { before: null, limit: 1_000 }, forever);
  return {
    jobs: await store.list({}, { before: null, limit: 1_000 }, forever),
    workflows: workflows.map(({ id, ...row }) => ({ workflowId: id, ...row })),
    steps: await Promise.all(workflows.map(({ id }) => store.steps(id, null, forever))),
    queues: await store.queues(forever),
    limits: (await store.limits(forever)).map(known),
    rates: (await store.rates(forever)).map(known),
    workers: workers.map(({ id, ...row }) => ({ workerId: id, ...row })),
    nextDueAt: (await store.promote(0, forever)).nextDueAt,
    healed: await store.healParkings({ after: 0, limit: 1_000 }, forever),
  };
}

/** How many jobs a claim has found to wait depends on how far it has read. */
function known<T extends { waiting: number }>({ waiting: _waiting, ...state }: T): Omit<T, 'waiting'> {
  return state;
}

/** How it all went. */
export function history({ store, jobs }: World): Promise<unknown> {
  return Promise.all(jobs.map((id) => store.attempts(id, forever)));
}

/** No two jobs of a call are due at the same later time. */
function offerOf({ gpu, handlers, free }: { gpu: boolean; handlers: boolean; free: number }) {
  return anOffer({ tags: gpu ? ['gpu'] : [], handlers: handlers ? ['h'] : [], free: { m: free } });
}

function newJob(world: World, wanted: WantedJob, now: number, index: number) {
  const { delay, byInstant, startTimeout, timeout, unique, dependsOn, rate, ...spec } = wanted;
  const parents = new Map(dependsOn.map(({ job, condition }) => [pickOf(world.jobs, job), condition]));
  parents.delete(undefined);
  const apartMs = (2 * index + (byInstant ? 1 : 0)) * APART_MS;
  const delayMs = delay === null ? null : world.delayMs(delay) + apartMs;
  return aJob({
    ...spec,
    rates: rate === null ? [] : [{ key: 'r', limit: rate, perMs: RATE_MS, burst: 0 }],
    name: `job of step ${world.step}`,
    runAt: byInstant && delayMs !== null ? now + delayMs : null,
    delayMs: byInstant ? null : delayMs,
    ...(timeout === null ? {} : { timeoutMs: world.delayMs(timeout) }),
    startTimeoutMs: startTimeout === null ? null : startTimeout * STEP_MS,
    dependsOn: [...parents].map(([jobId, condition]) => ({ jobId: jobId as number, condition })),
    unique: unique === null ? null : { ...unique, while: unique.while === 'time' ? 4 * STEP_MS : unique.while },
  });
}

function newStep(world: World, wanted: WantedStep, place: number): NewStep {
  const { parents, condition, continueOnFailure, items, maxParallel, keepFrom } = wanted;
  const list = Array.from({ length: items ?? 0 }, (_, index) => `item ${index}`);
  return aStep(`step ${place}`, {
    job: { continueOnFailure, name: `step of step ${world.step}` },
    parents: place === 0 ? [] : [...new Set(parents.map((parent) => parent % place))],
    condition,
    forEach: items === null ? null : { items: list, maxParallel },
    keepFrom: keepFrom === null ? null : (pickOf(world.jobs, keepFrom) ?? null),
  });
}

function outcomeOf(world: World, ending: Ending, fatal: boolean) {
  const error = `exit ${world.step}`;
  switch (ending) {
    case 'failed':
      return { type: ending, exitCode: world.step, signal: null, error, fatal } as const;
    case 'timed_out':
      return { type: ending, exitCode: null, signal: 'SIGTERM', error: 'timed out' } as const;
    case 'interrupted':
      return { type: ending, error: 'drained' } as const;
    case 'snoozed':
      return { type: ending, delayMs: 1 } as const;
    case 'cancelled':
      return { type: ending, error: null } as const;
    case 'returned':
      return { type: ending } as const;
  }
}

async function decide(world: World, job: Job, event: JobEvent): Promise<unknown> {
  const decided = transition(job, event, 0.5);
  if (decided === undefined) return 'nothing to do';
  const change: Change =
    decided.kind === 'requeue' && decided.delayMs > 0 ? { ...decided, delayMs: world.delayMs(1) } : decided;
  world.changes.push(change);
  const [written] = await world.store.applyChanges([change, change], forever);
  return written ?? 'not written';
}

/** A call speaks of each job once. */
function firstOfEachJob(changes: readonly Change[]): Change[] {
  const seen = new Set<number>();
  return changes.filter(({ fence: { jobId } }) => !seen.has(jobId) && seen.add(jobId));
}
