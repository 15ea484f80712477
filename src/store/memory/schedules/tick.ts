/** Judges due ticks. */

import type { Ticked, TickRequest } from '../../schedule-store.ts';
import type { Tables } from '../base/tables.ts';
import { judge } from './judge.ts';
import type { LineRow } from './rows.ts';

export function tick(tables: Tables, request: TickRequest): Ticked {
  const { limit, lines = limit } = request;
  const judged = judge(tables, dueLines(tables, tables.clock.now(), lines), request);
  const next = tables.dueLines.peek()?.nextDue ?? null;
  return {
    ...judged,
    nextDueAt: next,
    more: next !== null && next <= judged.now,
    stop: [...tables.stopping].map(({ id, stops }) => ({ tickId: id, runs: stops ?? [] })),
    contended: [],
  };
}

/** Due lines, the longest waiting first. */
function dueLines(tables: Tables, now: number, limit: number): LineRow[] {
  const lines: LineRow[] = [];
  for (let line = tables.dueLines.peek(); line !== undefined; line = tables.dueLines.peek()) {
    if (lines.length === limit || (line.nextDue ?? Infinity) > now) break;
    lines.push(line);
    tables.dueLines.delete(line);
  }
  for (const line of lines) tables.dueLines.add(line);
  return lines;
}

export function stoppedOthers(tables: Tables, tickIds: readonly number[]): void {
  for (const id of tickIds) {
    const row = tables.ticks.get(id);
    if (row === undefined) continue;
    row.stops = null;
    tables.stopping.delete(row);
  }
}
