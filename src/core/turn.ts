/**
 * Fair turns: the keys of a queue that have claimable work take turns within one priority. Job number n of a key waits
 * in round n, counted from the queue's present round, so the order of claims is one index and nobody has to count. What a
 * key has had before does not matter, only what it has waiting now: so a key that is new or was idle joins the present
 * round, and a backlog that was cancelled is forgotten.
 */

/** The key of jobs that name none. */
export const NO_FAIR_KEY = '';

/** A job that has just become claimable in a queue whose keys take turns. */
export interface Newcomer {
  jobId: number;
  queue: string;
  priority: number;
  fairKey: string;
  dueAt: number;
}

/** What else is claimable. */
export interface Standing {
  /** The lowest turn in this queue at this priority; `undefined`: nothing waits there. */
  present(queue: string, priority: number): number | undefined;
  /** The highest turn of this key there; `undefined`: it has nothing waiting. */
  last(queue: string, priority: number, fairKey: string): number | undefined;
}

/** Gives each newcomer its turn, those due first before their own key's others. `standing` does not know the newcomers. */
export function giveTurns<T extends Newcomer>(newcomers: readonly T[], standing: Standing): (T & { turn: number })[] {
  const given = new Map<string, number>();
  return [...newcomers]
    .sort((a, b) => a.dueAt - b.dueAt || a.jobId - b.jobId)
    .map((newcomer) => {
      const { queue, priority, fairKey } = newcomer;
      const line = JSON.stringify([queue, priority, fairKey]);
      const last = given.get(line) ?? standing.last(queue, priority, fairKey);
      const turn = last === undefined ? (standing.present(queue, priority) ?? 0) : last + 1;
      given.set(line, turn);
      return { ...newcomer, turn };
    });
}
