import type { Queue } from './queue.ts';

/** Adds the queues that were used lately to those that have a setting or an unfinished job. Sorted by name. */
export function withUsed(queues: readonly Queue[], used: Iterable<string>): Queue[] {
  const known = new Set(queues.map(({ name }) => name));
  const idle = [...new Set(used)].filter((name) => !known.has(name)).map(idleQueue);
  return [...queues, ...idle].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A queue without settings and without unfinished jobs. */
function idleQueue(name: string): Queue {
  return {
    name,
    paused: false,
    paused_at: null,
    max_running: null,
    rate: null,
    blocked: 0,
    scheduled: 0,
    pending: 0,
    running: 0,
    oldest_pending_at: null,
  };
}
