/** The duty that gives gangs their places, and decides the fate of gangs that have them. */

import { isDeepStrictEqual } from 'node:util';
import { type DroppedPlaces, type GangRow, type Place } from '../../core/gang.ts';
import { fateOf, type GangFate } from '../../core/gang-fate.ts';
import { isTerminal, TERMINAL_STATUSES } from '../../core/job.ts';
import type { JobEvent } from '../../core/transition.ts';
import type { Loop } from '../../ops/loop.ts';
import type { SchedulerContext } from '../context.ts';
import { decide } from '../jobs/decide.ts';
import { gangMembers } from '../jobs/gang-members.ts';

const EVERY_MS = 1_000;

/** Not woken by hints: they come with every job, and gangs are few. */
export function placer(context: SchedulerContext): Loop {
  return {
    name: 'placer',
    everyMs: EVERY_MS,
    async tick(signal) {
      await tidy(context, signal);
      await context.store.placeGangs(signal);
      await cancelIncomplete(context, signal);
      return undefined;
    },
  };
}

/**
 * Members start together or not at all: if one of them has ended before the gang got places, the others are cancelled. Also finishes
 * what a cancel of the gang has left.
 */
async function cancelIncomplete(context: SchedulerContext, signal: AbortSignal): Promise<void> {
  for (const { id, jobIds } of await context.store.incompleteGangs(signal)) {
    const ended = await gangMembers(context, { id, statuses: TERMINAL_STATUSES }, signal);
    if (ended.length > 0) await apply(context, new Map(jobIds.map((jobId) => [jobId, { type: 'cancel' }])), signal);
  }
}

/** Looks at every gang that has places. If it stops halfway, the next round finds the same. */
async function tidy(context: SchedulerContext, signal: AbortSignal): Promise<void> {
  const { store } = context;
  const places = await store.places(signal);
  if (places.length === 0) return;
  const byGang = Map.groupBy(places, ({ gangId }) => gangId);
  const dropped: DroppedPlaces[] = [];
  for (const { gang, fate } of await fatesOf(context, byGang, signal)) {
    const { id, term } = gang;
    // If the gang is in another term by now, or was stopped meanwhile, the next round decides.
    if (fate.stop && !(await store.stopGang(id, term, signal))) continue;
    await apply(context, fate.events, signal);
    if (fate.drop !== null) dropped.push({ gangId: id, term, unlessStarted: fate.drop === 'unless started' });
  }
  if (dropped.length > 0) await store.dropPlaces(dropped, signal);
}

/** Leaves out gangs of which a member started or succeeded during the reading: its place was read before, its job after. */
async function fatesOf(
  { store }: SchedulerContext,
  byGang: ReadonlyMap<string, readonly Place[]>,
  signal: AbortSignal,
): Promise<{ gang: GangRow; fate: GangFate }[]> {
  const gangs = await store.gangs([...byGang.keys()], signal);
  const places = [...byGang.values()].flat();
  const jobs = await store.read(
    places.map(({ jobId }) => jobId),
    signal,
  );
  const online = (await store.workers(signal)).filter(({ state }) => state === 'online');
  const around = {
    now: await store.now(signal),
    jobs: new Map(jobs.map((job) => [job.id, job])),
    online: new Set(online.map(({ id }) => id)),
  };
  const after = Map.groupBy(await store.places(signal), ({ gangId }) => gangId);
  return gangs
    .filter(({ id }) => isDeepStrictEqual(byGang.get(id), after.get(id)))
    .map((gang) => ({ gang, fate: fateOf(gang, byGang.get(gang.id) ?? [], around) }));
}

async function apply(
  context: SchedulerContext,
  events: ReadonlyMap<number, JobEvent>,
  signal: AbortSignal,
): Promise<void> {
  const eventFor = ({ id, status }: { id: number; status: Parameters<typeof isTerminal>[0] }) =>
    isTerminal(status) ? undefined : events.get(id);
  if (events.size > 0) await decide(context, [...events.keys()], eventFor, signal);
}
