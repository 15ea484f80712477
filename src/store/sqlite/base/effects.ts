/** What one call changed, gathered in the thread and told by the calling side after the commit. */

/** More ids than this are cut off. */
const MAX_IDS = 1_000;

export class Effects {
  work = false;
  readonly jobs: number[] = [];
  readonly workers: number[] = [];
  graph = false;
  schedules = false;
  dueAt: number | null = null;

  get isEmpty(): boolean {
    const { work, graph, schedules, jobs, workers, dueAt } = this;
    return !work && !graph && !schedules && jobs.length === 0 && workers.length === 0 && dueAt === null;
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

  /** A schedule may be due earlier than was known. */
  changedSchedule(): void {
    this.schedules = true;
  }

  willBeDue(at: number): void {
    this.dueAt = Math.min(at, this.dueAt ?? at);
  }
}
