/** Claimable jobs of the queues whose fair keys take turns. */

import type { Standing } from '../../../core/turn.ts';
import { Heap } from '../../heap.ts';
import type { Entry } from '../base/entry.ts';

function turnsEarlier(a: Entry, b: Entry): boolean {
  return a.turn === b.turn ? a.id < b.id : a.turn < b.turn;
}

/** The claimable jobs of one queue and priority. */
interface TurnLine {
  readonly all: Heap<Entry>;
  /** Jobs that have a turn, by fair key; the last one first. */
  readonly byKey: Map<string, Heap<Entry>>;
}

export class TurnLines implements Standing {
  readonly #queues = new Map<string, Map<number, TurnLine>>();

  has(queue: string): boolean {
    return this.#queues.has(queue);
  }

  open(queue: string): void {
    if (!this.#queues.has(queue)) this.#queues.set(queue, new Map());
  }

  add(entry: Entry): void {
    const lines = this.#queues.get(entry.spec.queue);
    if (lines === undefined) return;
    let line = lines.get(entry.spec.priority);
    if (line === undefined) {
      line = { all: new Heap(turnsEarlier), byKey: new Map() };
      lines.set(entry.spec.priority, line);
    }
    line.all.add(entry);
    if (entry.turnKey === null) return;
    let own = line.byKey.get(entry.turnKey);
    if (own === undefined) {
      own = new Heap((a, b) => turnsEarlier(b, a));
      line.byKey.set(entry.turnKey, own);
    }
    own.add(entry);
  }

  delete(entry: Entry): void {
    const lines = this.#queues.get(entry.spec.queue);
    const line = lines?.get(entry.spec.priority);
    if (line === undefined || !line.all.delete(entry)) return;
    if (line.all.size === 0) lines?.delete(entry.spec.priority);
    const own = entry.turnKey === null ? undefined : line.byKey.get(entry.turnKey);
    own?.delete(entry);
    if (own?.size === 0) line.byKey.delete(entry.turnKey as string);
  }

  present(queue: string, priority: number): number | undefined {
    return this.#queues.get(queue)?.get(priority)?.all.peek()?.turn;
  }

  last(queue: string, priority: number, fairKey: string): number | undefined {
    return this.#queues.get(queue)?.get(priority)?.byKey.get(fairKey)?.peek()?.turn;
  }
}
