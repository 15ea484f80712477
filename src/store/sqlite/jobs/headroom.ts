import { keptIn, type PlaceInLane } from '../../../core/claim-places.ts';
import { type Meter, queueMeter, roomOf } from '../../../core/meter.ts';
import { mostOf, type QueueSettings } from '../../../core/queue.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { meterUse } from './meters.ts';

interface SettingsRow {
  name: string;
  paused_at: number | null;
  max_running: number | null;
  rate: string | null;
}

/** How many more jobs of each queue may start, by the queues' settings. */
export class Headroom {
  readonly #context: Context;
  readonly #settings: ReadonlyMap<string, SettingsRow>;
  readonly #places: readonly PlaceInLane[];
  readonly #left = new Map<string, number>();

  /** `places`: those of members of gangs, for which a part is kept; none, if it is about these. */
  constructor(context: Context, places: readonly PlaceInLane[] = []) {
    this.#context = context;
    this.#places = places;
    this.#settings = new Map(context.database.all<SettingsRow>(sql.queueSettings).map((row) => [row.name, row]));
  }

  isLimited(queue: string): boolean {
    const row = this.#settings.get(queue);
    return row !== undefined && (row.max_running !== null || row.rate !== null);
  }

  /** Those with a rate. */
  rated(): string[] {
    return [...this.#settings.values()].filter(({ rate }) => rate !== null).map(({ name }) => name);
  }

  /** How many could start if none had before. */
  most(queue: string): number {
    const row = this.#settings.get(queue);
    if (row === undefined) return Infinity;
    const rate = row.rate === null ? null : (JSON.parse(row.rate) as QueueSettings['rate']);
    return mostOf({ maxRunning: row.max_running, rate });
  }

  take(queue: string): void {
    this.#left.set(queue, this.left(queue) - 1);
  }

  left(queue: string): number {
    let left = this.#left.get(queue);
    if (left === undefined) {
      left = this.#limitOf(queue) - keptIn({ queue }, this.#places);
      this.#left.set(queue, left);
    }
    return left;
  }

  /** What the rate of a queue allows now; `undefined` if it has none. */
  room(queue: string): ReturnType<typeof roomOf> | undefined {
    const meter = this.meter(queue);
    if (meter === undefined) return undefined;
    const [use] = meterUse(this.#context, [meter.name]);
    return use === undefined ? undefined : roomOf(meter, use, this.#context.now);
  }

  meter(queue: string): Meter | undefined {
    const rate = this.#settings.get(queue)?.rate ?? null;
    return rate === null ? undefined : queueMeter(queue, JSON.parse(rate) as NonNullable<QueueSettings['rate']>);
  }

  #limitOf(queue: string): number {
    const row = this.#settings.get(queue);
    if (row === undefined) return Infinity;
    if (row.paused_at !== null) return 0;
    const room = this.room(queue);
    if (room?.opensAt != null) this.#context.effects.willBeDue(room.opensAt);
    const left = room?.left ?? Infinity;
    if (row.max_running === null) return left;
    const running = this.#context.database.get<{ count: number }>(sql.countRunning, queue)?.count ?? 0;
    return Math.min(left, row.max_running - running);
  }
}
