import type { StatRow } from '../../../core/stats.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

interface StoredStat {
  minute: number;
  queue: string;
  outcome: StatRow['outcome'];
  instance_id: string;
  count: number;
  wait: string;
  run: string;
}

export function addStats({ database }: Context, rows: readonly StatRow[]): void {
  for (const { minute, queue, outcome, instanceId, count, wait, run } of rows) {
    const sum = database.get<StoredStat>(sql.stat, minute, queue, outcome, instanceId);
    database.run(
      sql.setStat,
      minute,
      queue,
      outcome,
      instanceId,
      count + (sum?.count ?? 0),
      JSON.stringify(added(wait, parsed(sum?.wait))),
      JSON.stringify(added(run, parsed(sum?.run))),
    );
  }
}

/** Summed over instances. */
export function stats({ database }: Context, { from, to }: { from: number; to: number }): StatRow[] {
  const sums: StatRow[] = [];
  for (const row of database.all<StoredStat>(sql.stats, from, to)) {
    const { minute, queue, outcome } = row;
    const last = sums.at(-1);
    const same = last?.minute === minute && last.queue === queue && last.outcome === outcome;
    const sum = { ...row, instanceId: '', wait: parsed(row.wait), run: parsed(row.run) };
    if (last !== undefined && same) {
      last.count += row.count;
      last.wait = added(last.wait, sum.wait);
      last.run = added(last.run, sum.run);
    } else {
      sums.push({ minute, instanceId: '', queue, outcome, count: row.count, wait: sum.wait, run: sum.run });
    }
  }
  return sums;
}

function parsed(histogram = '[]'): number[] {
  return JSON.parse(histogram) as number[];
}

function added(histogram: readonly number[], other: readonly number[]): number[] {
  return histogram.map((count, bucket) => count + (other[bucket] ?? 0));
}
