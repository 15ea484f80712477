/** Gives turns to jobs that become claimable in queues whose fair keys take turns. */

import { giveTurns, type Standing } from '../../../core/turn.ts';
import type { Context } from '../base/context.ts';
import type { Database } from '../base/database.ts';
import { sql } from '../base/sql.ts';

/** Greater than any real turn. */
const PARKED = Number.MAX_SAFE_INTEGER;

/** The queues whose jobs take turns, cached: a queue is never removed. */
export class FairQueues {
  readonly #database: Database;
  #names: Set<string> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  get names(): ReadonlySet<string> {
    this.#names ??= new Set(this.#database.tuples<[string]>(sql.fairQueues).map(([name]) => name));
    return this.#names;
  }

  add(name: string): void {
    if (this.names.has(name)) return;
    this.#database.run(sql.addFairQueues, name);
    this.#names?.add(name);
  }

  /** Queues written by a transaction that was rolled back do not exist. */
  forget(): void {
    this.#names = undefined;
  }
}

interface NewcomerRow {
  job_id: number;
  queue: string;
  priority: number;
  fair_key: string;
  due: number;
}

/** Gives turns to all jobs that a call has made claimable, at its end. */
export function giveTurnsTo({ database, fairQueues }: Context, jobIds: readonly number[]): void {
  if (fairQueues.names.size === 0) return;
  const ids = JSON.stringify(jobIds);
  if (database.run(sql.parkTurns, ids, JSON.stringify([...fairQueues.names])) === 0) return;
  const newcomers = database.all<NewcomerRow>(sql.newcomers, ids).map((row) => ({
    jobId: row.job_id,
    queue: row.queue,
    priority: row.priority,
    fairKey: row.fair_key,
    dueAt: row.due,
  }));
  for (const { jobId, turn, fairKey } of giveTurns(newcomers, new QueueStanding(database))) {
    database.run(sql.setTurns, jobId, turn, fairKey);
  }
}

/** The turns of pending jobs, without the parked ones. Must be read before parked jobs get their turns. */
class QueueStanding implements Standing {
  readonly #database: Database;
  readonly #lanes = new Map<string, number[]>();
  readonly #present = new Map<string, number | undefined>();

  constructor(database: Database) {
    this.#database = database;
  }

  present(queue: string, priority: number): number | undefined {
    const turnGroup = `${priority} ${queue}`;
    if (!this.#present.has(turnGroup)) this.#present.set(turnGroup, this.#least(queue, priority));
    return this.#present.get(turnGroup);
  }

  last(queue: string, priority: number, fairKey: string): number | undefined {
    const turns = this.#lanesOf(queue).flatMap((lane) =>
      this.#database.tuples<[number]>(sql.lastTurns, lane, -priority, fairKey).map(([turn]) => turn),
    );
    return turns.length === 0 ? undefined : Math.max(...turns);
  }

  #least(queue: string, priority: number): number | undefined {
    const turns = this.#lanesOf(queue)
      .flatMap((lane) => this.#database.tuples<[number]>(sql.presentTurns, lane, -priority).map(([turn]) => turn))
      .filter((turn) => turn !== PARKED);
    return turns.length === 0 ? undefined : Math.min(...turns);
  }

  #lanesOf(queue: string): number[] {
    let lanes = this.#lanes.get(queue);
    if (lanes === undefined) {
      lanes = this.#database.tuples<[number]>(sql.lanesOfQueue, queue).map(([id]) => id);
      this.#lanes.set(queue, lanes);
    }
    return lanes;
  }
}
