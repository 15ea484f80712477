/** Gives turns to jobs that become claimable in queues whose fair keys take turns. */

import { giveTurns, NO_FAIR_KEY } from '../../../core/turn.ts';
import type { Entry } from '../base/entry.ts';
import { putBack, type Tables, takeOff } from '../base/tables.ts';

/** Makes a queue's keys take turns, from its first job with a fair key on. */
export function noticeFairKey({ turns, live }: Tables, { queue, fairKey }: Entry['spec']): void {
  if (fairKey === null || turns.has(queue)) return;
  turns.open(queue);
  for (const { lane, line } of live.pendingLines()) {
    if (lane.queue === queue) for (const entry of line.values()) turns.add(entry);
  }
}

/** Gives turns to all jobs that a call has made claimable, at its end. */
export function giveTurnsTo(tables: Tables, entries: Iterable<Entry>): void {
  const waiting = [...entries].filter(({ status, spec }) => status === 'pending' && tables.turns.has(spec.queue));
  if (waiting.length === 0) return;
  for (const entry of waiting) takeOff(tables, entry);
  const newcomers = waiting.map((entry) => {
    const { queue, priority, fairKey } = entry.spec;
    return { entry, jobId: entry.id, queue, priority, fairKey: fairKey ?? NO_FAIR_KEY, dueAt: entry.dueAt };
  });
  for (const { entry, turn, fairKey } of giveTurns(newcomers, tables.turns)) {
    entry.turn = turn;
    entry.turnKey = fairKey;
  }
  for (const entry of waiting) putBack(tables, entry);
}
