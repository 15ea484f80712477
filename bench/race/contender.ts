/** The interface of a contender: the same work, with the best settings of its own documentation. */

export interface JobInput {
  /** When the job was submitted, by the machine's clock; 0 if it does not matter. */
  at: number;
}

export interface Contender extends AsyncDisposable {
  /** Creates an empty store. Called once, before anything else. */
  prepare(): Promise<void>;
  /** Connects to the prepared store. */
  connect(): Promise<void>;
  /** Resolves once the job is stored as durably as the contender can. */
  submit(input: JobInput): Promise<void>;
  submitMany(count: number): Promise<void>;
  /** Starts to handle jobs, `slots` at once; the handler only calls `onJob`. */
  work(slots: number, onJob: (input: JobInput) => void): Promise<void>;
  /** True if no job waits or runs, according to the store. */
  isDrained(): Promise<boolean>;
}

export interface Place {
  /** The address of the database, the file, or the Redis server. */
  url: string;
}

export type OpenContender = (place: Place) => Promise<Contender>;

/** The contenders by name, with what they need. */
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
