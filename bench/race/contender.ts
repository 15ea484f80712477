/** What every contender has to do: the same work, at the best settings that its own documentation gives. */

export interface JobInput {
  /** When it was submitted, by the machine's clock; 0 where nobody asks. */
  at: number;
}

export interface Contender extends AsyncDisposable {
  /** An empty store that is ready to take jobs. Called once, before anything else. */
  prepare(): Promise<void>;
  /** Connects to a store that somebody has prepared. */
  connect(): Promise<void>;
  /** Resolves once the job is stored as durably as this contender can. */
  submit(input: JobInput): Promise<void>;
  submitMany(count: number): Promise<void>;
  /** Handles jobs from now on, `slots` at once; calls `onJob` for each, which does nothing else. */
  work(slots: number, onJob: (input: JobInput) => void): Promise<void>;
  /** Whether nothing waits and nothing runs, by the store. */
  isDrained(): Promise<boolean>;
}

export interface Place {
  /** Of the database, the file, or the Redis server. */
  url: string;
}

export type OpenContender = (place: Place) => Promise<Contender>;

/** By name: where it is, and what it needs. */
export const CONTENDERS = {
  workron: { title: 'Workron', needs: 'postgres', load: () => import('./peers/workron.ts') },
  'workron-sqlite': { title: 'Workron on SQLite', needs: 'file', load: () => import('./peers/workron.ts') },
  'workron-http': { title: 'Workron over HTTP', needs: 'postgres', load: () => import('./peers/workron-http.ts') },
  'graphile-batch': {
    title: 'graphile-worker, batched',
    needs: 'postgres',
    load: () => import('./peers/graphile-batch.ts'),
  },
  graphile: { title: 'graphile-worker', needs: 'postgres', load: () => import('./peers/graphile.ts') },
  'pg-boss': { title: 'pg-boss', needs: 'postgres', load: () => import('./peers/pg-boss.ts') },
  'workron-shell': {
    title: 'Workron, commands',
    needs: 'postgres',
    load: () => import('./peers/workron-shell.ts'),
  },
  'workron-shell-heap': {
    title: 'Workron, commands, 1 GB in the worker',
    needs: 'postgres',
    load: () => import('./peers/workron-shell-heap.ts'),
  },
  spawn: { title: 'bare spawn loop', needs: 'nothing', load: () => import('./peers/spawn.ts') },
  bullmq: { title: 'BullMQ on Redis', needs: 'redis', load: () => import('./peers/bullmq.ts') },
} as const satisfies Record<
  string,
  { title: string; needs: 'postgres' | 'file' | 'redis' | 'nothing'; load: () => Promise<{ open: OpenContender }> }
>;

export type ContenderName = keyof typeof CONTENDERS;
