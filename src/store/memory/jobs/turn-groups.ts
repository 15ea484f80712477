/** Claimable jobs of the queues whose fair keys take turns. */

import type { Standing } from '../../../core/turn.ts';
import { Heap } from '../../heap.ts';
import type { Entry } from '../base/entry.ts';

function turnsEarlier(a: Entry, b: Entry): boolean {
  return a.turn === b.turn ? a.id < b.id : a.turn < b.turn;
}

/** The claimable jobs of one queue and priority. */
interface TurnGroup {
  readonly all: Heap<Entry>;
  /** Jobs that have a turn, by fair key; the last one first. */
  readonly byKey: Map<string, Heap<Entry>>;
}

export class TurnGroups implements Standing {
  readonly #queues = new Map<string, Map<number, TurnGroup>>();

  has(queue: string): boolean {
    return this.#queues.has(queue);
  }

  open(queue: string): void {
    if (!this.#queues.has(queue)) this.#queues.set(queue, new Map());
  }

  add(entry: Entry): void {
    const turnGroups = this.#queues.get(entry.spec.queue);
    if (turnGroups === undefined) return;
    let turnGroup = turnGroups.get(entry.spec.priority);
    if (turnGroup === undefined) {
      turnGroup = { all: new Heap(turnsEarlier), byKey: new Map() };
      turnGroups.set(entry.spec.priority, turnGroup);
    }
    turnGroup.all.add(entry);
    if (entry.turnKey === null) return;
    let own = turnGroup.byKey.get(entry.turnKey);
    if (own === undefined) {
      own = new Heap((a, b) => turnsEarlier(b, a));
      turnGroup.byKey.set(entry.turnKey, own);
    }
    own.add(entry);
  }

  delete(entry: Entry): void {
    const turnGroups = this.#queues.get(entry.spec.queue);
    const turnGroup = turnGroups?.get(entry.spec.priority);
    if (turnGroup === undefined || !turnGroup.all.delete(entry)) return;
    if (turnGroup.all.size === 0) turnGroups?.delete(entry.spec.priority);
    const own = entry.turnKey === null ? undefined : turnGroup.byKey.get(entry.turnKey);
    own?.delete(entry);
    if (own?.size === 0) turnGroup.byKey.delete(entry.turnKey as string);
  }

  present(queue: string, priority: number): number | undefined {
    return this.#queues.get(queue)?.get(priority)?.all.peek()?.turn;
  }

  last(queue: string, priority: number, fairKey: string): number | undefined {
    return this.#queues.get(queue)?.get(priority)?.byKey.get(fairKey)?.peek()?.turn;
  }
}
