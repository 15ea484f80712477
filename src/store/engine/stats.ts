/** Statistics by minute, queue, outcome and instance. */

import type { StatRow } from '../../core/stats.ts';
import { columns } from '../sql/columns.ts';
import { at, type Fragment, raw, type Spelling, sql } from '../sql/sql.ts';
import { one, type Tx } from '../sql/tx.ts';

const stat = columns<StatRow>({
  minute: 'instant',
  instanceId: 'text',
  queue: 'text',
  outcome: 'text',
  count: 'bigint',
  wait: 'json',
  run: 'json',
});

/** One statement cannot add to a row twice, so rows of the same minute are summed first. */
async function addStats(tx: Tx, rows: readonly StatRow[]): Promise<void> {
  const sums = summed(rows, ({ instanceId }) => instanceId);
  if (sums.length === 0) return;
  await tx.run(sql`insert into stat ${stat.rows(sums)}
    on conflict (minute, queue, outcome, instance_id) do update
    set count = stat.count + excluded.count, wait = ${sumOf('wait')}, run = ${sumOf('run')}`);
}

/** The counts that a row has and those that are added to it, bucket by bucket. */
function sumOf(column: 'wait' | 'run'): Spelling {
  const [stored, added] = [raw(`stat.${column}`), raw(`excluded.${column}`)] as const;
  return (dialect): Fragment =>
    dialect === 'postgres'
      ? sql`(select jsonb_agg(coalesce(a::bigint, 0) + coalesce(b::bigint, 0) order by place) from rows from (
          jsonb_array_elements_text(${stored}), jsonb_array_elements_text(${added})) with ordinality u(a, b, place))`
      : sql`(select json_group_array(n.value + coalesce(${stored} ->> n.key, 0)) from json_each(${added}) n)`;
}

/** Summed over instances. */
async function stats(tx: Tx, { from, to }: { from: number; to: number }): Promise<StatRow[]> {
  const rows = await tx.all(
    stat,
    sql`select ${stat} from stat where minute >= ${at(from)} and minute < ${at(to)}
    order by minute, queue, outcome`,
  );
  return summed(rows, () => '');
}

function summed(rows: readonly StatRow[], instanceOf: (row: StatRow) => string): StatRow[] {
  const sums = new Map<string, StatRow>();
  for (const row of rows) {
    const instanceId = instanceOf(row);
    const key = JSON.stringify([row.minute, instanceId, row.queue, row.outcome]);
    const { count = 0, wait = [], run = [] } = sums.get(key) ?? {};
    const sum = { count: row.count + count, wait: added(row.wait, wait), run: added(row.run, run) };
    sums.set(key, { ...row, ...sum, instanceId });
  }
  return [...sums.values()];
}

function added(histogram: readonly number[], other: readonly number[]): number[] {
  return histogram.map((count, bucket) => count + (other[bucket] ?? 0));
}

export const statistics = {
  addStats: one('write', addStats),
  stats: one('read', stats),
};
