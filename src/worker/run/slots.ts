/** The free capacity of a worker: slots, and resources such as memory and GPUs. */

import type { ClaimedJob } from '../../core/job.ts';
import type { WorkerProfile } from '../job-source.ts';

export class Slots {
  readonly #total: number;
  readonly #resources: Readonly<Record<string, number>>;
  readonly #taken = new Map<string, number>();
  #used = 0;

  constructor({ slots, resources }: Pick<WorkerProfile, 'slots' | 'resources'>) {
    this.#total = slots;
    this.#resources = resources;
  }

  get total(): number {
    return this.#total;
  }

  get used(): number {
    return this.#used;
  }

  get free(): number {
    return this.#total - this.#used;
  }

  /** True if some resources are taken, so that a job that fits later may not fit now. */
  get isShort(): boolean {
    return this.#taken.values().some((amount) => amount > 0);
  }

  freeResources(): Record<string, number> {
    const entries = Object.entries(this.#resources);
    return Object.fromEntries(entries.map(([name, total]) => [name, total - (this.#taken.get(name) ?? 0)]));
  }

  /** True if more of some resource is free than `offered`. */
  exceed(offered: Readonly<Record<string, number>>): boolean {
    for (const name in this.#resources) {
      const free = (this.#resources[name] ?? 0) - (this.#taken.get(name) ?? 0);
      if (free > (offered[name] ?? 0)) return true;
    }
    return false;
  }

  take(job: ClaimedJob): void {
    this.#used += 1;
    this.#count(job, 1);
  }

  giveBack(job: ClaimedJob): void {
    this.#used -= 1;
    this.#count(job, -1);
  }

  #count({ resources }: ClaimedJob, sign: 1 | -1): void {
    for (const name in resources) {
      this.#taken.set(name, (this.#taken.get(name) ?? 0) + sign * (resources[name] ?? 0));
    }
  }
}
