/**
 * A list of any length, page by page. Pages far from the visible rows are dropped and fetched again when they are needed,
 * so that memory stays bounded. Rows never move under the reader: new jobs are counted, and added when the user asks for
 * them.
 */

import type { Job, JobPage } from '../../../../src/api/job.ts';

const PAGE_ROWS = 100;
const KEPT_PAGES = 30;

interface Page {
  cursor: string | undefined;
  /** The jobs of the page; `null` if it was dropped. */
  items: Job[] | null;
  /** Kept when the page is dropped. */
  length: number;
}

export interface ListState {
  /** The number of rows that are known. */
  length: number;
  complete: boolean;
  loading: boolean;
  error: unknown;
  /** The number of jobs that are newer than the first row. */
  newer: number;
  /** Jobs submitted before this instant were not searched for text; `null` if all were searched. */
  searchedBackTo: string | null;
  /** Increases with every change. */
  version: number;
}

export type FetchPage = (page: { cursor?: string; limit: number }, signal: AbortSignal) => Promise<JobPage>;

export class JobPages {
  readonly #fetch: FetchPage;
  readonly #listeners = new Set<() => void>();
  readonly #stop = new AbortController();
  #pages: Page[] = [];
  #next: string | null | undefined;
  #busy = false;
  /** A refresh was asked for while a page was fetched. */
  #refreshNext = false;
  #state: ListState = {
    length: 0,
    complete: false,
    loading: true,
    error: null,
    newer: 0,
    searchedBackTo: null,
    version: 0,
  };

  constructor(fetch: FetchPage) {
    this.#fetch = fetch;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): ListState => this.#state;

  close(): void {
    this.#stop.abort();
  }

  /** The job in this row; `undefined` while its page is fetched. */
  at(row: number): Job | undefined {
    const [page, place] = this.#locate(row);
    return page?.items?.[place];
  }

  /** Fetches the missing pages of these rows, and the next page near the end of the list. */
  async show(first: number, last: number): Promise<void> {
    if (this.#busy || this.#stop.signal.aborted) return;
    const missing = this.#pages.find((page, index) => page.items === null && this.#overlaps(index, first, last));
    const more = this.#next !== null && last >= this.#state.length - PAGE_ROWS / 2;
    if (missing === undefined && !more) return;
    await this.#during(async (signal) => {
      const cursor = missing === undefined ? this.#next : missing.cursor;
      const page = await this.#fetch({ ...(cursor == null ? {} : { cursor }), limit: PAGE_ROWS }, signal);
      if (missing !== undefined) missing.items = page.items.slice(0, missing.length);
      else {
        this.#pages.push({ cursor: cursor ?? undefined, items: page.items, length: page.items.length });
        this.#next = page.next_cursor;
      }
      this.#letGo(first, last);
    });
  }

  /** Fetches the newest page: replaces the list if nothing else is shown, else only counts the new jobs. */
  async refresh(takeIn: boolean): Promise<void> {
    if (this.#stop.signal.aborted) return;
    if (this.#busy) {
      this.#refreshNext ||= takeIn;
      return;
    }
    await this.#during(async (signal) => {
      const page = await this.#fetch({ limit: PAGE_ROWS }, signal);
      const first = this.at(0);
      if (takeIn || first === undefined) {
        this.#pages = [{ cursor: undefined, items: page.items, length: page.items.length }];
        this.#next = page.next_cursor;
        this.#state = { ...this.#state, newer: 0, searchedBackTo: page.searched_back_to ?? null };
      } else {
        const newer = page.items.filter((job) => Number(job.id) > Number(first.id)).length;
        this.#state = { ...this.#state, newer };
      }
    });
  }

  /** Replaces jobs by their current versions, in place. */
  update(jobs: readonly Job[]): void {
    const fresh = new Map(jobs.map((job) => [job.id, job]));
    let changed = false;
    for (const page of this.#pages) {
      if (page.items === null || !page.items.some((job) => fresh.has(job.id))) continue;
      page.items = page.items.map((job) => fresh.get(job.id) ?? job);
      changed = true;
    }
    if (changed) this.#tell({});
  }

  async #during(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#busy = true;
    try {
      await work(this.#stop.signal);
      this.#tell({ loading: false, error: null });
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#tell({ loading: false, error });
    } finally {
      this.#busy = false;
    }
    if (!this.#refreshNext) return;
    this.#refreshNext = false;
    await this.refresh(true);
  }

  #tell(change: Partial<ListState>): void {
    const length = this.#pages.reduce((sum, page) => sum + page.length, 0);
    const complete = this.#next === null;
    this.#state = { ...this.#state, ...change, length, complete, version: this.#state.version + 1 };
    for (const listener of this.#listeners) listener();
  }

  #letGo(first: number, last: number): void {
    const held = this.#pages.filter(({ items }) => items !== null).length;
    if (held <= KEPT_PAGES) return;
    const middle = Math.floor((first + last) / 2 / PAGE_ROWS);
    for (const [index, page] of this.#pages.entries()) {
      if (Math.abs(index - middle) > KEPT_PAGES / 2) page.items = null;
    }
  }

  #overlaps(index: number, first: number, last: number): boolean {
    const start = index * PAGE_ROWS;
    return start <= last && start + PAGE_ROWS > first;
  }

  #locate(row: number): [Page | undefined, number] {
    return [this.#pages[Math.floor(row / PAGE_ROWS)], row % PAGE_ROWS];
  }
}
