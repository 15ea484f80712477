/** Counts and logs what the store did beside what it was asked for: children and groups that ended, items of groups. */

import type { SideEffects } from '../store/hint.ts';
import type { SchedulerContext } from './context.ts';

/** Jobs that are read at once. */
const PIECE = 1_000;

/** Counts until disposed of; that waits for what is still to be counted, for `closeMs` at most. */
export function countSideEffects(context: SchedulerContext, closeMs: number): AsyncDisposable {
  const ended = new AbortController();
  /** What happens while others are counted is counted together. */
  let next: SideEffects = { ended: [], items: [] };
  let counting: Promise<void> | undefined;
  const stop = context.store.observe((effects) => {
    for (const id of effects.ended) next.ended.push(id);
    for (const item of effects.items) next.items.push(item);
    counting ??= countAll();
  });
  async function countAll(): Promise<void> {
    // Not inside the call of the store.
    await Promise.resolve();
    while (next.ended.length + next.items.length > 0 && !ended.signal.aborted) {
      const effects = next;
      next = { ended: [], items: [] };
      await count(context, effects, ended.signal).catch((error: unknown) => {
        context.log.debug({ error }, 'could not count jobs that ended because of others');
      });
    }
    counting = undefined;
  }
  return {
    async [Symbol.asyncDispose]() {
      stop();
      const counted = new AbortController();
      await Promise.race([counting, context.clock.sleep(closeMs, counted.signal)]);
      counted.abort();
      ended.abort();
    },
  };
}

async function count(
  { store, clock, telemetry }: SchedulerContext,
  { ended, items }: SideEffects,
  signal: AbortSignal,
): Promise<void> {
  for (let start = 0; start < ended.length; start += PIECE) {
    const jobs = await store.read(ended.slice(start, start + PIECE), signal);
    for (const job of jobs) telemetry.endedByGraph(job);
  }
  if (items.length === 0) return;
  const groups = await store.read([...new Set(items.map(({ groupId }) => groupId))], signal);
  const queues = new Map(groups.map(({ id, queue }) => [id, queue]));
  for (const { groupId, count } of items) {
    const queue = queues.get(groupId);
    if (queue !== undefined) telemetry.started({ [queue]: count }, clock.now(), { group_id: groupId });
  }
}
