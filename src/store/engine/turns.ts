/** Gives turns to jobs that become claimable in queues whose fair keys take turns. */

import { giveTurns, type Newcomer, type Standing } from '../../core/turn.ts';
import { columns } from '../sql/columns.ts';
import { alsoAnyOf, anyOf, eachOf, type Fragment, listOf, locking, raw, spelled, sql } from '../sql/sql.ts';
import type { Tx } from '../sql/tx.ts';
import { isPending } from './standing.ts';

/** Greater than any real turn. */
const PARKED = Number.MAX_SAFE_INTEGER;

const newcomer = columns<Newcomer>({
  jobId: 'bigint',
  queue: 'text',
  priority: 'int',
  fairKey: 'text',
  dueAt: 'instant',
});
const lockedQueue = columns<{ name: string; lanes: number[] }>({ name: 'text', lanes: 'json' });
const given = columns<{ jobId: number; turn: number; fairKey: string | null }>({
  jobId: 'bigint',
  turn: 'bigint',
  fairKey: 'text',
});
const lanePlace = columns<{ place: number; lane: number; rank: number; fairKey: string }>({
  place: 'int',
  lane: 'int',
  rank: 'int',
  fairKey: 'text',
});
const turnRow = columns<{ place: number; turn: number | null }>({ place: 'int', turn: 'bigint' });

/** Makes the jobs of queues take turns from now on. */
export function addFairQueues(names: readonly string[]): Fragment {
  return sql`insert into fair_queue (name) select i.value from ${eachOf(names, 'text')}
    order by i.value ${locking('collate "C"')} on conflict do nothing`;
}

/**
 * Gives turns in the last statements of a transaction. `jobIds`: locked or new jobs; those that are not claimable are left out.
 * `fairQueues`: queues of stored jobs with a fair key. Costs nothing if no queue takes turns.
 */
export async function giveTurnsTo(tx: Tx, jobIds: readonly number[], fairQueues: readonly string[]): Promise<void> {
  const fresh = [...new Set(fairQueues)].filter((name) => !tx.fairQueues.has(name));
  if (fresh.length > 0) await tx.run(addFairQueues(fresh));
  if (tx.fairQueues.size + fresh.length === 0 || jobIds.length === 0) return;
  const newcomers = await parkTurns(tx, jobIds, [...tx.fairQueues, ...fresh]);
  if (newcomers.length === 0) return;
  const queues = [...new Set(newcomers.map(({ queue }) => queue))];
  // Without this lock, concurrent transactions would give the same turns in one queue. The turns are read in the next statement.
  const locked = await tx.all(
    lockedQueue,
    sql`select q.name, ${listOf(sql`select n.id as value from any_lane n where n.queue = q.name`)} as lanes
      from fair_queue q where q.name ${anyOf(queues, 'text')} order by q.name ${locking('collate "C" for update of q')}`,
  );
  const lanes = new Map(locked.map((row) => [row.name, row.lanes]));
  const turns = giveTurns(newcomers, await standingOf(tx, newcomers, lanes));
  const ids = turns.map(({ jobId }) => jobId);
  await tx.run(sql`update live set turn = i.turn, fair_key = i.fair_key from ${given.input(turns)} i
    where live.job_id = i.job_id ${alsoAnyOf('live.job_id', ids)}`);
}

/** Puts the claimable jobs of these queues last until they are given their turns. */
function parkTurns(tx: Tx, jobIds: readonly number[], queues: readonly string[]): Promise<Newcomer[]> {
  const ofJob = (column: string) => raw(`(select j.${column} from job j where j.id = live.job_id)`);
  const isOfQueue = spelled({
    sqlite: sql`lane in (select n.id from lane n where n.queue ${anyOf(queues, 'text')})
      returning job_id, ${ofJob('queue')} as queue, ${ofJob('priority')} as priority,
        coalesce(${ofJob(`spec ->> 'fair_key'`)}, '') as fair_key, due as due_at`,
    postgres: sql`j.id = live.job_id and j.queue ${anyOf(queues, 'text')}
      returning live.job_id, j.queue, j.priority, coalesce(j.spec ->> 'fair_key', '') as fair_key, live.due as due_at`,
  });
  return tx.all(
    newcomer,
    sql`update live set turn = ${raw(String(PARKED))}, fair_key = null ${fromJob}
      where live.job_id ${anyOf(jobIds)} and ${isPending('live')} and ${isOfQueue}`,
  );
}

const fromJob = spelled({ sqlite: sql``, postgres: sql`from job j` });

/** The jobs of a queue and a priority, of one fair key or of all. */
interface TurnGroup {
  queue: string;
  priority: number;
  fairKey: string | null;
}

/** The turns of the pending jobs, without the newcomers. `lanes`: those of each queue. */
async function standingOf(
  tx: Tx,
  newcomers: readonly TurnGroup[],
  lanes: ReadonlyMap<string, readonly number[]>,
): Promise<Standing> {
  const ofKey = sql`select l.turn from live l where ${isPending('l')} and l.lane = i.lane and l.rank = i.rank
    and l.fair_key = i.fair_key order by l.turn desc limit 1`;
  const ofAll = sql`select l.turn from live l where ${isPending('l')} and l.lane = i.lane and l.rank = i.rank
    order by l.turn, l.due, l.job_id limit 1`;
  const last = await turnsOf(tx, { groups: newcomers, lanes, turn: sql`max((${ofKey}))` });
  const groups = newcomers.map((one) => ({ ...one, fairKey: null }));
  const present = await turnsOf(tx, { groups, lanes, turn: sql`min((${ofAll}))` });
  return {
    present: (queue, priority) => present.get(keyOf({ queue, priority, fairKey: null })),
    last: (queue, priority, fairKey) => last.get(keyOf({ queue, priority, fairKey })),
  };
}

interface Asked {
  groups: readonly TurnGroup[];
  lanes: ReadonlyMap<string, readonly number[]>;
  /** Of the rows `i` of a group, one for each lane of its queue. */
  turn: Fragment;
}

async function turnsOf(tx: Tx, { groups, lanes, turn }: Asked): Promise<ReadonlyMap<string, number>> {
  const asked = new Map(groups.map((group) => [keyOf(group), group]));
  const keys = [...asked.keys()];
  const places = [...asked.values()].flatMap(({ queue, priority, fairKey }, place) =>
    (lanes.get(queue) ?? []).map((lane) => ({ place, lane, rank: -priority, fairKey: fairKey ?? '' })),
  );
  const rows = await tx.all(
    turnRow,
    sql`select i.place, ${turn} as turn from ${lanePlace.input(places)} i group by i.place`,
  );
  const known = rows.filter(({ turn }) => turn !== null && turn !== PARKED);
  return new Map(known.map(({ place, turn }) => [keys[place] as string, turn as number]));
}

function keyOf({ queue, priority, fairKey }: TurnGroup): string {
  return JSON.stringify([queue, priority, fairKey]);
}
