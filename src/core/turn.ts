/**
 * Fair turns: within one priority, the fair keys of a queue that have claimable jobs take turns. The n-th job of a key
 * is in round n, counted from the queue's current round, so the order of claims is one index. Only pending jobs count, not
 * jobs that have run: a new or idle key joins the current round, and a cancelled backlog leaves no trace.
 */

/** A job that has become claimable in a queue whose keys take turns. */
export interface Newcomer {
  jobId: number;
  queue: string;
  priority: number;
  fairKey: string;
  dueAt: number;
}

/** The turns of the claimable jobs that have one. The jobs of one queue, priority and fair key form a turn group. */
export interface Standing {
  /** The lowest turn in this queue at this priority; `undefined`: no job is pending there. */
  present(queue: string, priority: number): number | undefined;
  /** The highest turn of this key there; `undefined`: the key has no pending job. */
  last(queue: string, priority: number, fairKey: string): number | undefined;
}

/** Gives each newcomer its turn; newcomers of one key in the order of their due times. `standing` does not include them. */
export function giveTurns<T extends Newcomer>(newcomers: readonly T[], standing: Standing): (T & { turn: number })[] {
  const given = new Map<string, number>();
  return [...newcomers]
    .sort((a, b) => a.dueAt - b.dueAt || a.jobId - b.jobId)
    .map((newcomer) => {
      const { queue, priority, fairKey } = newcomer;
      const turnGroup = JSON.stringify([queue, priority, fairKey]);
      const last = given.get(turnGroup) ?? standing.last(queue, priority, fairKey);
      const turn = last === undefined ? (standing.present(queue, priority) ?? 0) : last + 1;
      given.set(turnGroup, turn);
      return { ...newcomer, turn };
    });
}
