/**
 * What a graph of jobs must come to, by the rules as they are written: after every end, look at all nodes and all their
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

/** Chooses one of the free nodes, which ends next. */
export type Pick = (free: readonly number[]) => number;

export class DagReference {
  readonly #plan: readonly PlannedNode[];
  readonly fates: Fate[];

  constructor(plan: readonly PlannedNode[]) {
    this.#plan = plan;
    this.fates = plan.map(() => ({ status: 'blocked', reason: null }));
  }

  /** Runs whatever can run until nothing is free; answers with the nodes in the order in which they ended. */
  run(pick: Pick, round: 0 | 1): number[] {
    const ended: number[] = [];
    for (;;) {
      this.#settle();
      const free = this.fates.flatMap(({ status }, node) => (status === 'free' ? [node] : []));
      if (free.length === 0) return ended;
      const node = pick(free);
      this.fates[node] = { status: (this.#plan[node] as PlannedNode).ends[round], reason: null };
      ended.push(node);
    }
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
  }

  /** Judges all blocked nodes by what is known now, again and again until nothing changes. */
  #settle(): void {
    for (;;) {
      const next = this.fates.map((fate, node) => (fate.status === 'blocked' ? this.#judge(node) : fate));
      if (next.every((fate, node) => fate.status === this.#statusOf(node))) return;
      next.forEach((fate, node) => (this.fates[node] = fate));
    }
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

function skipped(reason: NonNullable<Fate['reason']>): Fate {
  return { status: 'skipped', reason };
}
