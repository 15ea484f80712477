/** Optimistic changes: read, decide, and write only if nothing has changed meanwhile; else read and decide again. */

import { isWorkronError, WorkronError } from '../../core/error.ts';
import { type GangRow, restarts } from '../../core/gang.ts';
import type { Job } from '../../core/job.ts';
import { type Change, type JobEvent, transition } from '../../core/transition.ts';
import type { SchedulerContext } from '../context.ts';

/** The result of a decision about one job. */
type Decision =
  | { type: 'changed'; job: Job }
  /** Nothing to do: the job is already in the wanted state, or the event does not apply any more. */
  | { type: 'unchanged'; job: Job }
  | { type: 'missing' }
  | { type: 'refused'; job: Job; error: unknown };

/** Returns the event for this job, or `undefined` if none applies to its current state. */
type EventFor = (job: Job) => JobEvent | undefined;

/** Each further round means that another writer was faster, so this limit is never reached in practice. */
const ROUNDS = 100;

/** Decides about each job by its current state; returns the decisions in the order of the ids. */
export async function decide(
  context: SchedulerContext,
  ids: readonly number[],
  eventFor: EventFor,
  signal: AbortSignal,
): Promise<Decision[]> {
  const decisions = new Map<number, Decision>();
  let open = [...new Set(ids)];
  for (let round = 0; open.length > 0; round += 1) {
    if (round === ROUNDS) throw new Error(`No decision on jobs ${open.slice(0, 10).join(', ')} after ${ROUNDS} rounds`);
    const jobs = new Map((await context.store.read(open, signal)).map((job) => [job.id, job]));
    const gangs = await gangsOf(context, [...jobs.values()], signal);
    const changes: Wanted[] = [];
    for (const id of open) {
      const job = jobs.get(id);
      if (job === undefined) decisions.set(id, { type: 'missing' });
      else {
        const decided = decideOne(context, job, eventFor, gangs);
        if ('change' in decided) changes.push({ before: job, change: decided.change });
        else decisions.set(id, decided);
      }
    }
    if (changes.length === 0) break;
    open = [];
    for (const { before, change, written } of await write(context, changes, signal)) {
      if (written === undefined) open.push(before.id);
      else if (written instanceof WorkronError)
        decisions.set(before.id, { type: 'refused', job: before, error: written });
      else {
        context.telemetry.changed(before, written, change);
        decisions.set(before.id, { type: 'changed', job: written });
      }
    }
  }
  return ids.map((id) => decisions.get(id) ?? { type: 'missing' });
}

interface Wanted {
  before: Job;
  change: Change;
}

/** Writes the changes. If the store refuses one (its unique key is taken), the batch is halved until it is alone. */
async function write(
  context: SchedulerContext,
  wanted: readonly Wanted[],
  signal: AbortSignal,
): Promise<(Wanted & { written: Job | WorkronError | undefined })[]> {
  try {
    const changes = wanted.map(({ change }) => change);
    // Before the job can be claimed. If this process dies in between, the job has failed as before, and can be retried.
    const durable = wanted.filter(({ before, change }) => change.kind === 'reopen' && before.durable !== undefined);
    if (durable.length > 0) {
      const ids = durable.map(({ before }) => before.id);
      await context.store.forgetFailedSteps(ids, signal);
    }
    const written = await context.store.applyChanges(changes, signal);
    return wanted.map((one, index) => ({ ...one, written: written[index] }));
  } catch (error) {
    if (!isWorkronError(error, 'unique_conflict')) throw error;
    if (wanted.length === 1) return wanted.map((one) => ({ ...one, written: error }));
    const middle = wanted.length >> 1;
    const first = await write(context, wanted.slice(0, middle), signal);
    return [...first, ...(await write(context, wanted.slice(middle), signal))];
  }
}

/** The gangs of members whose budget is that of their gang. */
async function gangsOf(
  { store }: SchedulerContext,
  jobs: readonly Job[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, GangRow>> {
  const ids = new Set(jobs.filter(restarts).flatMap(({ gang }) => gang?.id ?? []));
  if (ids.size === 0) return new Map();
  return new Map((await store.gangs([...ids], signal)).map((gang) => [gang.id, gang]));
}

function decideOne(
  context: SchedulerContext,
  job: Job,
  eventFor: EventFor,
  gangs: ReadonlyMap<string, GangRow>,
): Decision | { change: Change } {
  try {
    const event = eventFor(job);
    const change = event && transition(job, event, context.random(), gangs.get(job.gang?.id ?? ''));
    return change === undefined ? { type: 'unchanged', job } : { change };
  } catch (error) {
    return { type: 'refused', job, error };
  }
}

/** Returns the job of a decision about one job, or throws the error for the caller. */
export function jobOf(decision: Decision | undefined, missing: () => Error): Job {
  if (decision === undefined || decision.type === 'missing') throw missing();
  if (decision.type === 'refused') throw decision.error;
  return decision.job;
}
