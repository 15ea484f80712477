/** Jobs that wait and that no worker can take. */

import { countText } from '../../api/count-text.ts';
import { laneFromKey, serves } from '../../core/lane.ts';
import type { WorkerRow } from '../../core/worker.ts';
import { bad, type Finding, ok } from './finding.ts';

export interface WaitingLane {
  key: string;
  jobs: number;
}

type Profile = Pick<WorkerRow, 'queues' | 'commands' | 'handlers' | 'tags' | 'resources'>;

const SHOWN = 10;

/** A worker that was not heard of for as many leases is gone, though nobody was there to notice. */
export const SILENT_LEASES = 3;

export function examineServed(lanes: readonly WaitingLane[], online: readonly Profile[]): Finding[] {
  const check = 'workers';
  const waiting = lanes.reduce((sum, { jobs }) => sum + jobs, 0);
  if (online.length === 0 && waiting > 0) {
    return [bad(check, `${jobsWait(waiting)}, and no worker is online`, 'start one: workron worker --scheduler URL')];
  }
  const unserved = lanes.filter(({ key }) => !online.some((profile) => canRun(profile, key)));
  if (unserved.length === 0) {
    const can = waiting === 0 ? 'no job waits' : 'they can run every job that waits';
    return [ok(check, `${online.length} online; ${can}`)];
  }
  return unserved.slice(0, SHOWN).map(({ key, jobs }) => {
    const { queue, kind, requires, resources } = laneFromKey(key);
    const parts = [
      ...(kind === '' ? [] : [`handler ${kind}`]),
      ...requires.map((tag) => `tag ${tag}`),
      ...Object.entries(resources).map(([name, amount]) => `${name} ${amount}`),
    ];
    const worker = parts.length === 0 ? 'a worker that runs commands' : `a worker with ${parts.join(', ')}`;
    const notifies = queue === 'workron.notify' ? '; notifications are not delivered until then' : '';
    const need = `${countText(jobs, 'job needs', 'jobs need')} ${worker} on queue ${queue}; none is online`;
    return bad(check, need, `start such a worker${notifies}`);
  });
}

function canRun({ resources, ...profile }: Profile, key: string): boolean {
  const lane = laneFromKey(key);
  const fits = Object.entries(lane.resources).every(([name, amount]) => (resources[name] ?? 0) >= amount);
  // Members of a gang are started by their places, not by claims, and need the same of a worker.
  return fits && serves({ ...profile, free: resources }, { ...lane, gang: false });
}

function jobsWait(count: number): string {
  return countText(count, 'job waits', 'jobs wait');
}
