import type { Hint } from './hint.ts';

/** More ids than this are cut off. */
const MAX_IDS = 1_000;

/** Gathers what one call changed and tells it once, after the call. */
export class Hints {
  readonly #listeners = new Set<(hint: Hint) => void>();
  #work = false;
  #jobs = new Set<number>();
  #workers = new Set<number>();
  #graph = false;
  #schedules = false;
  #dueAt: number | null = null;
  #planned = false;

  subscribe(listener: (hint: Hint) => void): () => void {
    // Wrapped, so that one listener may be there twice.
    const entry = (hint: Hint) => listener(hint);
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  work(): void {
    if (this.#plan()) this.#work = true;
  }

  job(id: number): void {
    if (this.#plan() && this.#jobs.size < MAX_IDS) this.#jobs.add(id);
  }

  worker(id: number): void {
    if (this.#plan()) this.#workers.add(id);
  }

  graph(): void {
    if (this.#plan()) this.#graph = true;
  }

  schedule(): void {
    if (this.#plan()) this.#schedules = true;
  }

  due(at: number): void {
    if (this.#plan()) this.#dueAt = Math.min(at, this.#dueAt ?? at);
  }

  /** Whether there is anybody to tell. */
  #plan(): boolean {
    if (this.#listeners.size === 0) return false;
    if (!this.#planned) queueMicrotask(() => this.#tell());
    this.#planned = true;
    return true;
  }

  #tell(): void {
    const hints: Hint[] = [];
    if (this.#work) hints.push({ topic: 'work' });
    if (this.#jobs.size > 0) hints.push({ topic: 'jobs', ids: [...this.#jobs] });
    if (this.#workers.size > 0) hints.push({ topic: 'workers', ids: [...this.#workers] });
    if (this.#graph) hints.push({ topic: 'graph' });
    if (this.#schedules) hints.push({ topic: 'schedules' });
    if (this.#dueAt !== null) hints.push({ topic: 'due', at: this.#dueAt });
    this.#work = false;
    this.#graph = false;
    this.#schedules = false;
    this.#jobs = new Set();
    this.#workers = new Set();
    this.#dueAt = null;
    this.#planned = false;
    for (const listener of this.#listeners) for (const hint of hints) listener(hint);
  }
}
