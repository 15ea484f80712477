/** The conditions under which calls are made: which faults are active, and what becomes of the next message. */

import type { Chance } from './chance.ts';
import type { Fault, Plan } from './plan.ts';
import type { Part } from './virtual-time.ts';

/** What becomes of one call. */
export interface Fate {
  request: 'arrives' | 'lost';
  answer: 'arrives' | 'lost';
  requestMs: number;
  answerMs: number;
  /** When the caller learns that there will be no answer; `Infinity`: it does not. */
  giveUpMs: number;
  /** The request arrives a second time after this time; `null`: it does not. */
  againMs: number | null;
  /** The news that the caller has given up arrives. */
  cancels: boolean;
}

/** How long a call waits for a store that does not answer at all. */
const HANG_MS = 5_000;
/** Messages of a stalled connection arrive within this time after it. */
const STALLED_MS = 2_000;

export class Conditions {
  readonly #plan: Plan;
  readonly #active = new Set<Fault>();

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  begin(fault: Fault): void {
    this.#active.add(fault);
  }

  end(fault: Fault): void {
    this.#active.delete(fault);
  }

  get storeIsAway(): boolean {
    return this.#of('store_away').length > 0;
  }

  /** True if messages of this worker (-1: of the clients) may be lost now. */
  isTroubled(target: number): boolean {
    return (
      this.#of('cut').some((fault) => fault.target === target) ||
      this.#of('stall').some((fault) => fault.target === target) ||
      this.#of('lossy').some((fault) => fault.target === target)
    );
  }

  /** Calls are quick when all is well, and now and then slow. */
  #latencyMs(chance: Chance): number {
    return chance.happens(0.12) ? chance.int(10, 600) : chance.next() * 3;
  }

  storeFate(caller: Part): Fate {
    const { chance } = caller;
    const slowMs = Math.max(0, ...this.#of('store_slow').map(({ upToMs }) => upToMs));
    const share = Math.max(0, ...this.#of('store_lossy').map((fault) => fault.share));
    const hangs = this.#of('store_away').some((fault) => fault.hangs);
    const lost = chance.happens(share);
    return {
      request: lost && chance.happens(0.5) ? 'lost' : 'arrives',
      answer: lost ? 'lost' : 'arrives',
      requestMs: this.#latencyMs(chance) + chance.next() * slowMs,
      answerMs: this.#latencyMs(chance) + chance.next() * slowMs,
      giveUpMs: hangs ? chance.int(1, HANG_MS) : this.#latencyMs(chance),
      againMs: null,
      cancels: chance.happens(0.5),
    };
  }

  /** A message of a worker (-1: of a client) to a scheduler. */
  wireFate(target: number, sender: Part): Fate {
    const { chance } = sender;
    const cut = this.#of('cut').some((fault) => fault.target === target);
    const share = Math.max(
      0,
      ...this.#of('lossy')
        .filter((fault) => fault.target === target)
        .map((fault) => fault.share),
    );
    const stalled = this.#of('stall').filter((fault) => fault.target === target);
    const stallMs = Math.max(0, ...stalled.map(({ at, forMs }) => at + forMs - sender.time.now));
    const suffers = chance.happens(share);
    const how = chance.pick(['request', 'answer', 'delay', 'again'] as const);
    const late = () => (suffers && how === 'delay' ? chance.int(100, this.#plan.leaseMs) : 0);
    return {
      request: cut || (suffers && how === 'request') ? 'lost' : 'arrives',
      answer: suffers && how === 'answer' ? 'lost' : 'arrives',
      requestMs: this.#latencyMs(chance) + late() + (stallMs === 0 ? 0 : stallMs + chance.int(0, STALLED_MS)),
      answerMs: this.#latencyMs(chance) + late(),
      giveUpMs: cut || chance.happens(0.5) ? Number.POSITIVE_INFINITY : this.#latencyMs(chance),
      againMs: suffers && how === 'again' ? chance.int(0, this.#plan.leaseMs) : null,
      cancels: chance.happens(0.7),
    };
  }

  /** An answer does not pass a cut that began after its request. */
  isCut(target: number): boolean {
    return this.#of('cut').some((fault) => fault.target === target);
  }

  /** How long a hint takes; `null`: it is lost. Hints of a store with one owner are never lost. */
  hintMs({ chance }: Part): number | null {
    if (!this.#plan.exclusive && chance.happens(0.1)) return null;
    return this.#latencyMs(chance);
  }

  #of<T extends Fault['type']>(type: T): Extract<Fault, { type: T }>[] {
    if (this.#active.size === 0) return NONE as Extract<Fault, { type: T }>[];
    return [...this.#active].filter((fault): fault is Extract<Fault, { type: T }> => fault.type === type);
  }
}

const NONE: Fault[] = [];
