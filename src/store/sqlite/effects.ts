/** What one call changed, gathered in the thread and told by the calling side after the commit. */

/** More ids than this are cut off. */
const MAX_IDS = 1_000;

export class Effects {
  work = false;
  readonly jobs: number[] = [];
  readonly workers: number[] = [];
  graph = false;
  dueAt: number | null = null;

  get isEmpty(): boolean {
    return !this.work && !this.graph && this.jobs.length === 0 && this.workers.length === 0 && this.dueAt === null;
  }

  /** Jobs may have become claimable, or room for them. */
  madeWork(): void {
    this.work = true;
  }

  changedJob(id: number): void {
    if (this.jobs.length < MAX_IDS) this.jobs.push(id);
  }

  changedWorker(id: number): void {
    this.workers.push(id);
  }

  /** There is something to cascade or to expand. */
  changedGraph(): void {
    this.graph = true;
  }

  willBeDue(at: number): void {
    this.dueAt = Math.min(at, this.dueAt ?? at);
  }
}
