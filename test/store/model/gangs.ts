/** What a scheduler does about gangs, in the model. */

import { forever } from '../../../contract/kit/steps.ts';
import { needsAll } from '../../../src/core/gang.ts';
import { fateOf } from '../../../src/core/gang-fate.ts';
import { transition } from '../../../src/core/transition.ts';
import type { World } from './world.ts';

interface LeaseRef {
  jobId: number;
  attempt: number;
  workerId: number;
}

/** Successes of members that the store has left to be decided. */
export async function succeedMembers(world: World, leases: readonly LeaseRef[]): Promise<unknown[]> {
  const { store } = world;
  const held: unknown[] = [];
  for (const { jobId, attempt, workerId } of leases) {
    const [job] = await store.read([jobId], forever);
    if (job === undefined || !needsAll(job) || job.status !== 'running') continue;
    if (job.attempt !== attempt || job.workerId !== workerId) continue;
    const [gang] = await store.gangs([job.gang?.id ?? ''], forever);
    const success = { exitCode: 0, result: { step: world.step } };
    const change = transition(job, { type: 'succeed', success }, 0.5, gang);
    held.push(change === undefined ? null : await store.applyChanges([change], forever));
  }
  return held;
}

/** One round of the placer, without giving places. */
export async function judgeGangs(world: World): Promise<unknown> {
  const { store } = world;
  const byGang = Map.groupBy(await store.places(forever), ({ gangId }) => gangId);
  const now = await store.now(forever);
  const online = new Set((await store.workers(forever)).filter(({ state }) => state === 'online').map(({ id }) => id));
  const log: unknown[] = [];
  for (const gang of await store.gangs([...byGang.keys()], forever)) {
    const places = byGang.get(gang.id) ?? [];
    const jobs = await store.read(
      places.map(({ jobId }) => jobId),
      forever,
    );
    const fate = fateOf(gang, places, { jobs: new Map(jobs.map((job) => [job.id, job])), online, now });
    const { id, term } = gang;
    if (fate.stop) log.push(await store.stopGang(id, term, forever));
    const changes = jobs.flatMap((job) => {
      const event = fate.events.get(job.id);
      const change = event && transition(job, event, 0.5, gang);
      return change === undefined ? [] : [change];
    });
    if (changes.length > 0) log.push(await store.applyChanges(changes, forever));
    const unlessStarted = fate.drop === 'unless started';
    if (fate.drop !== null) await store.dropPlaces([{ gangId: id, term, unlessStarted }], forever);
    log.push(fate);
  }
  return log;
}
