/** One store under the model, and what its caller knows of it. */

import { forever } from '../../../contract/kit/steps.ts';
import type { TestStore } from '../../../contract/kit/store.ts';
import type { Change } from '../../../src/core/transition.ts';
import type { Store } from '../../../src/store/store.ts';

/**
 * The clock of a database runs on beside the test's. So no two instants that matter may be near each other: every delay
 * has a part of its own below a step, and instants are compared by these parts.
 */
const PART_MS = 120_000;
export const MAX_ACTIONS = 60;

/** Each action happens so long after the one before. */
export const STEP_MS = (MAX_ACTIONS + 4) * PART_MS;

const JOB_KEYS = new Set(['id', 'jobId', 'groupId', 'rerunOf']);

export interface ModelLease {
  jobId: number;
  attempt: number;
  workerId: number;
}

export class World {
  readonly store: Store;
  readonly #opened: TestStore;
  readonly #startedAt: number;
  /** Ids in the order in which they were given, whatever they are here. */
  readonly jobs: number[] = [];
  readonly workers: number[] = [];
  readonly workflows: number[] = [];
  /** All that were ever handed out. */
  readonly leases: ModelLease[] = [];
  /** All that was ever decided, to be tried again later. */
  readonly changes: Change[] = [];
  claimSeq = 0;
  step = 0;

  private constructor(opened: TestStore, startedAt: number) {
    this.#opened = opened;
    this.store = opened.store;
    this.#startedAt = startedAt;
  }

  static async begin(opened: TestStore): Promise<World> {
    return new World(opened, await opened.store.now(forever));
  }

  async nextStep(): Promise<void> {
    this.step += 1;
    await this.#opened.advance(STEP_MS);
  }

  wait(steps: number): Promise<void> {
    return this.#opened.advance(steps * STEP_MS);
  }

  /** So many steps and the part of the present action, so that nothing else is due at the same time. */
  delayMs(steps: number): number {
    return steps * STEP_MS + this.step * PART_MS;
  }

  /** One of those handed out lately, held or not. */
  lease(pick: number): ModelLease | undefined {
    return pickOf(this.leases.slice(-6), pick);
  }

  /** One of those decided lately, written or not. */
  change(pick: number): Change | undefined {
    return pickOf(this.changes.slice(-6), pick);
  }

  learnJob(id: number): void {
    if (!this.jobs.includes(id)) this.jobs.push(id);
  }

  /** `value` with ids and instants as every store would tell them. */
  plain(value: unknown, key = ''): unknown {
    if (typeof value === 'number') return this.#plainNumber(value, key);
    if (value instanceof Uint8Array) return Buffer.from(value).toString();
    if (Array.isArray(value)) return value.map((part) => this.plain(part, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, this.plain(part, name)]));
  }

  #plainNumber(value: number, key: string): unknown {
    if (JOB_KEYS.has(key)) return `job ${this.jobs.indexOf(value)}`;
    if (key === 'workflowId') return `workflow ${this.workflows.indexOf(value)}`;
    if (key === 'workerId') return `worker ${this.workers.indexOf(value)}`;
    if (key.endsWith('At')) return Math.floor((value - this.#startedAt) / PART_MS);
    return value;
  }
}

export function pickOf<T>(from: readonly T[], pick: number): T | undefined {
  return from[pick % Math.max(from.length, 1)];
}
