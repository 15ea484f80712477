/** Gives turns to jobs that become claimable in queues whose fair keys take turns. */

import { giveTurns, type Newcomer, type Standing } from '../../../core/turn.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';

/** Greater than any real turn. */
const PARKED = Number.MAX_SAFE_INTEGER;

/** A cache of the queues whose fair keys take turns. A queue is never removed. */
export class FairQueues {
  readonly #names = new Set<string>();

  /** Adds queues whose rows are committed. Returns true if one of them is new. */
  learn(names: Iterable<string>): boolean {
    const before = this.#names.size;
    for (const name of names) this.#names.add(name);
    return this.#names.size > before;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  get names(): readonly string[] {
    return [...this.#names];
  }
}

interface NewcomerRow {
  job_id: number;
  queue: string;
  priority: number;
  fair_key: string;
  due: number;
}

interface Claimable {
  /** Locked or new jobs. Those that are not claimable are ignored. */
  jobIds: readonly number[];
  /** Queues of stored jobs with a fair key. */
  fairQueues: readonly string[];
}

/** Gives turns in the last statements of a transaction. Costs nothing if no queue takes turns. */
export async function giveTurnsTo(context: Context, session: Session, claimable: Claimable): Promise<void> {
  const { sql, fairQueues } = context;
  const fresh = claimable.fairQueues.filter((name) => !fairQueues.has(name));
  if (fresh.length > 0) await session.query(sql.addFairQueues, [[...new Set(fresh)]]);
  const names = [...new Set([...fairQueues.names, ...fresh])];
  if (names.length === 0 || claimable.jobIds.length === 0) return;
  const rows = await session.query<NewcomerRow>(sql.parkTurns, [numbers(claimable.jobIds), names]);
  if (rows.length === 0) return;
  type Locked = { name: string; lanes: number[] };
  const locked = await session.query<Locked>(sql.lockFairQueues, [[...new Set(rows.map(({ queue }) => queue))]]);
  const lanes = new Map(locked.map((row) => [row.name, row.lanes]));
  const newcomers = rows.map((row) => ({
    jobId: row.job_id,
    queue: row.queue,
    priority: row.priority,
    fairKey: row.fair_key,
    dueAt: row.due,
  }));
  const given = giveTurns(newcomers, await standingOf(sql, session, { newcomers, lanes }));
  await session.query(sql.setTurns, [
    numbers(given.map(({ jobId }) => jobId)),
    numbers(given.map(({ turn }) => turn)),
    given.map(({ fairKey }) => fairKey),
  ]);
}

interface Newcomers {
  newcomers: readonly Newcomer[];
  /** The lanes of each queue. */
  lanes: ReadonlyMap<string, readonly number[]>;
}

/** The turns of the pending jobs, without the newcomers. */
async function standingOf(sql: Context['sql'], session: Session, { newcomers, lanes }: Newcomers): Promise<Standing> {
  const keys = distinct(newcomers.map(({ queue, priority, fairKey }) => ({ queue, priority, fairKey })));
  const turnGroups = distinct(newcomers.map(({ queue, priority }) => ({ queue, priority })));
  const [keyPlaces, groupPlaces] = [placesOf(keys, lanes), placesOf(turnGroups, lanes)];
  const fairKeys = keyPlaces.map(({ turnGroup }) => turnGroup.fairKey);
  const lasts = await session.query<TurnRow>(sql.lastTurns, [...columnsOf(keyPlaces), fairKeys]);
  const presents = await session.query<TurnRow>(sql.presentTurns, columnsOf(groupPlaces));
  const [last, present] = [turnsBy(keys, lasts), turnsBy(turnGroups, presents)];
  return {
    present: (queue, priority) => present.get(JSON.stringify({ queue, priority })),
    last: (queue, priority, fairKey) => last.get(JSON.stringify({ queue, priority, fairKey })),
  };
}

interface TurnGroup {
  queue: string;
  priority: number;
}

interface LanePlace<G extends TurnGroup> {
  turnGroup: G;
  place: number;
  lane: number;
}

interface TurnRow {
  place: number;
  turn: number;
}

/** All lanes of each turn group's queue. */
function placesOf<G extends TurnGroup>(turnGroups: readonly G[], lanes: Newcomers['lanes']): LanePlace<G>[] {
  return turnGroups.flatMap((turnGroup, place) =>
    (lanes.get(turnGroup.queue) ?? []).map((lane) => ({ turnGroup, place, lane })),
  );
}

function columnsOf(places: readonly LanePlace<TurnGroup>[]): string[] {
  return [
    numbers(places.map(({ place }) => place)),
    numbers(places.map(({ lane }) => lane)),
    numbers(places.map(({ turnGroup }) => -turnGroup.priority)),
  ];
}

function turnsBy(turnGroups: readonly TurnGroup[], rows: readonly TurnRow[]): ReadonlyMap<string, number> {
  const known = rows.filter(({ turn }) => turn !== PARKED);
  return new Map(known.map(({ place, turn }) => [JSON.stringify(turnGroups[place]), turn]));
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
