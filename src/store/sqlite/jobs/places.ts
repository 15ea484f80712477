import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

/** How many more jobs of each queue may run, by the queues' settings. */
export class Places {
  readonly #context: Context;
  readonly #limits: Map<string, { paused: boolean; maxRunning: number | null }>;
  readonly #left = new Map<string, number>();

  constructor(context: Context) {
    this.#context = context;
    const rows = context.database.all<{ name: string; paused_at: number | null; max_running: number | null }>(
      sql.queueSettings,
    );
    this.#limits = new Map(
      rows.map((row) => [row.name, { paused: row.paused_at !== null, maxRunning: row.max_running }]),
    );
  }

  isLimited(queue: string): boolean {
    return this.#limits.get(queue)?.maxRunning != null;
  }

  take(queue: string): void {
    this.#left.set(queue, this.left(queue) - 1);
  }

  left(queue: string): number {
    let left = this.#left.get(queue);
    if (left === undefined) {
      left = this.#limitOf(queue);
      this.#left.set(queue, left);
    }
    return left;
  }

  #limitOf(queue: string): number {
    const limits = this.#limits.get(queue);
    if (limits === undefined) return Infinity;
    if (limits.paused) return 0;
    if (limits.maxRunning === null) return Infinity;
    const running = this.#context.database.get<{ count: number }>(sql.countRunning, queue)?.count ?? 0;
    return limits.maxRunning - running;
  }
}
