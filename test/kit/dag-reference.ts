/**
 * How a graph of jobs must end, by the rules as they are written: after every end, look at all nodes and all their
 * parents again. Slow and plain; shares nothing with the counters it is compared with.
 */

export type Wish = 'success' | 'failure' | 'ended';
export type End = 'done' | 'failed' | 'cancelled' | 'skipped';

export interface PlannedNode {
  parents: readonly { node: number; condition: Wish }[];
  /** `each`: a job with conditions on its edges; `together`: a workflow step, whose edges all have the same condition. */
  mode: 'each' | 'together';
  continueOnFailure: boolean;
  /** How it ends where it runs: the first time, and after a retry. */
  ends: readonly [Exclude<End, 'skipped'>, Exclude<End, 'skipped'>];
}

export interface Fate {
  status: 'blocked' | 'free' | End;
  reason: 'upstream_failed' | 'condition' | null;
}

export interface EndOptions {
  /** A cancellation that also cancels the descendants that can no longer run. */
  cascades?: boolean;
}

/** Chooses one of the free nodes, which ends next. */
export type Pick = (free: readonly number[]) => number;

export class DagReference {
  readonly #plan: readonly PlannedNode[];
  readonly fates: Fate[];
  /** The nodes that exist so far: the others are not judged. */
  readonly #known: Set<number>;
  /** Cancelled with the descendants that can no longer run. */
  readonly #cascading = new Set<number>();

  /** All nodes are known from the start unless a number says how many. */
  constructor(plan: readonly PlannedNode[], known = plan.length) {
    this.#plan = plan;
    this.fates = plan.map(() => ({ status: 'blocked', reason: null }));
    this.#known = new Set(plan.keys().take(known));
    this.#settle();
  }

  get free(): number[] {
    return this.fates.flatMap(({ status }, node) => (status === 'free' ? [node] : []));
  }

  /** Adds the node, and judges it by the states of its parents. */
  admit(node: number): void {
    this.#known.add(node);
    this.#settle();
  }

  /** A node that has not ended ends now. */
  end(node: number, status: Exclude<End, 'skipped'>, { cascades }: EndOptions = {}): void {
    this.fates[node] = { status, reason: null };
    if (cascades === true) this.#cascading.add(node);
    this.#settle(new Set([node]));
  }

  /** Runs whatever can run until nothing is free; answers with the nodes in the order in which they ended. */
  run(pick: Pick, round: 0 | 1): number[] {
    const ended: number[] = [];
    for (let { free } = this; free.length > 0; { free } = this) {
      const node = pick(free);
      this.end(node, (this.#plan[node] as PlannedNode).ends[round]);
      ended.push(node);
    }
    return ended;
  }

  /** A person retries an ended node that ran: skipped nodes below it are undecided again, those that ran are left alone. */
  retry(node: number): void {
    this.fates[node] = { status: 'free', reason: null };
    const changed = new Set([node]);
    for (let before = -1; before !== changed.size; ) {
      before = changed.size;
      this.#plan.forEach(({ parents }, child) => {
        if (this.#statusOf(child) !== 'skipped' || !parents.some((edge) => changed.has(edge.node))) return;
        this.fates[child] = { status: 'blocked', reason: null };
        changed.add(child);
      });
    }
    this.#settle();
  }

  /** Judges all blocked nodes until nothing changes. `ended`: the node that has just ended. */
  #settle(ended: ReadonlySet<number> = new Set()): void {
    for (;;) {
      const next = this.fates.map((fate, node) => {
        if (fate.status !== 'blocked' || !this.#known.has(node)) return fate;
        const judged = this.#judge(node);
        return judged.status === 'skipped' && this.#isTakenAlong(node, ended) ? CANCELLED : judged;
      });
      const changed = next.flatMap((fate, node) => (fate.status === this.#statusOf(node) ? [] : [node]));
      if (changed.length === 0) return;
      next.forEach((fate, node) => (this.fates[node] = fate));
      for (const node of changed) if (next[node] === CANCELLED) this.#cascading.add(node);
      ended = new Set(changed);
    }
  }

  /** True if a parent has just been cancelled with its descendants, and the edge to it did not ask for any end. */
  #isTakenAlong(node: number, ended: ReadonlySet<number>): boolean {
    const { parents } = this.#plan[node] as PlannedNode;
    return parents.some((edge) => ended.has(edge.node) && this.#cascading.has(edge.node) && edge.condition !== 'ended');
  }

  #judge(node: number): Fate {
    const { parents, mode } = this.#plan[node] as PlannedNode;
    const seen = parents.map((edge) => ({ wish: edge.condition, end: this.#endAsSeen(edge.node) }));
    const ended = seen.filter(({ end }) => end !== undefined);
    const wait: Fate = { status: 'blocked', reason: null };
    const free: Fate = { status: 'free', reason: null };
    if (mode === 'together') {
      if (ended.length < seen.length) return wait;
      const wish = seen[0]?.wish ?? 'ended';
      if (wish === 'success' && !seen.every(({ end }) => end === 'done')) return skipped('upstream_failed');
      if (wish === 'failure' && !seen.some(({ end }) => end === 'failed')) return skipped('condition');
      return free;
    }
    if (ended.some(({ wish, end }) => wish === 'success' && end !== 'done')) return skipped('upstream_failed');
    if (ended.some(({ wish, end }) => wish === 'failure' && end !== 'failed')) return skipped('condition');
    return ended.length < seen.length ? wait : free;
  }

  #endAsSeen(node: number): End | undefined {
    const status = this.#statusOf(node);
    if (status === 'blocked' || status === 'free') return undefined;
    return status === 'failed' && (this.#plan[node] as PlannedNode).continueOnFailure ? 'done' : status;
  }

  #statusOf(node: number): Fate['status'] {
    return (this.fates[node] as Fate).status;
  }
}

const CANCELLED: Fate = { status: 'cancelled', reason: null };

function skipped(reason: NonNullable<Fate['reason']>): Fate {
  return { status: 'skipped', reason };
}
