import { countStarting, rivalsOf } from '../../../core/ahead.ts';
import { laneFromKey } from '../../../core/lane.ts';
import { isAhead } from '../base/live.ts';
import type { Tables } from '../base/tables.ts';
import { workers } from '../cluster/workers.ts';
import { useOf } from './meters.ts';

export function countAhead(tables: Tables, jobId: number, atMost: number): number {
  const entry = tables.jobs.get(jobId);
  if (entry?.status !== 'pending') return 0;
  const { live, clock } = tables;
  const isRival = rivalsOf(laneFromKey(entry.lane), workers(tables));
  const lines = [...live.lanes(), ...live.parkings.open(clock.now())].filter(({ lane }) => isRival(lane));
  const before = (metered: boolean) =>
    lines
      .filter(({ lane }) => lane.metered === metered)
      .flatMap(({ line }) => [...line.values()].filter((other) => isAhead(other, entry)));
  const metered = before(true)
    .sort((a, b) => (isAhead(a, b) ? -1 : 1))
    .slice(0, atMost)
    .map(({ spec }) => spec);
  const starting = countStarting(metered, (name) => useOf(tables, name), clock.now());
  return Math.min(before(false).length + starting, atMost);
}
