/** What every contender has to do: the same work, at the best settings that its own documentation gives. */

import type { Settings } from './settings.ts';

export interface JobInput {
  /** When it was submitted, by the machine's clock; 0 where nobody asks. */
  at: number;
  /** The job's number, so that one that is handled twice in place of another is noticed. */
  n: number;
  pad?: string;
}

export interface Contender extends AsyncDisposable {
  /** Creates the tables. Called once, in an empty database, before anything else. */
  prepare(): Promise<void>;
  /** Connects to a store that another process has prepared. */
  connect(): Promise<void>;
  /** Resolves once the job is stored as durably as this contender can. */
  submit(input: JobInput): Promise<void>;
  submitMany(inputs: JobInput[]): Promise<void>;
  /** Handles jobs from now on, `slots` at once; calls `onJob` for each, which does nothing else. */
  work(slots: number, onJob: (input: JobInput) => void): Promise<void>;
  /** Stops to handle jobs, and connects anew: no plan of a nearly empty table is kept. The process stays warm. */
  rest(): Promise<void>;
}

export interface Place {
  /** Of the database, the file, or the Redis server. */
  url: string;
  settings: Settings;
}

export type OpenContender = (place: Place) => Promise<Contender>;

interface Entry {
  title: string;
  needs: 'postgres' | 'file' | 'redis' | 'nothing';
  /** In SQL: the rows of jobs that wait or run. For Redis: its lists of them. */
  unfinished: string;
  load: () => Promise<{ open: OpenContender }>;
  /** Known to be so much slower that it gets a tenth of the jobs from the first round on. */
  slow?: true;
}

const WORKRON = { needs: 'postgres', unfinished: 'workron.live' } as const;
const GRAPHILE = { needs: 'postgres', unfinished: 'graphile_worker._private_jobs' } as const;

/** By name: where it is, and what it needs. */
export const CONTENDERS = {
  workron: { ...WORKRON, title: 'Workron', load: () => import('./peers/workron.ts') },
  'workron-sqlite': {
    title: 'Workron on SQLite',
    needs: 'file',
    unfinished: 'live',
    load: () => import('./peers/workron.ts'),
  },
  'workron-http': { ...WORKRON, title: 'Workron over HTTP', load: () => import('./peers/workron-http.ts') },
  'graphile-batch': {
    ...GRAPHILE,
    title: 'graphile-worker, batched',
    load: () => import('./peers/graphile-batch.ts'),
  },
  graphile: { ...GRAPHILE, title: 'graphile-worker', load: () => import('./peers/graphile.ts'), slow: true },
  'pg-boss': {
    title: 'pg-boss',
    needs: 'postgres',
    unfinished: `pgboss.job where name = 'noop' and state < 'completed'`,
    load: () => import('./peers/pg-boss.ts'),
  },
  dbos: {
    title: 'DBOS',
    needs: 'postgres',
    unfinished: `dbos.workflow_status where status in ('ENQUEUED', 'PENDING')`,
    load: () => import('./peers/dbos.ts'),
    slow: true,
  },
  bullmq: {
    title: 'BullMQ on Redis',
    needs: 'redis',
    unfinished: 'bull:noop:wait bull:noop:active',
    load: () => import('./peers/bullmq.ts'),
  },
  'workron-shell': { ...WORKRON, title: 'Workron, commands', load: () => import('./peers/workron-shell.ts') },
  'workron-shell-heap': {
    ...WORKRON,
    title: 'Workron, commands, 1 GB in the worker',
    load: () => import('./peers/workron-shell-heap.ts'),
  },
  spawn: { title: 'bare spawn loop', needs: 'nothing', unfinished: '', load: () => import('./peers/spawn.ts') },
} as const satisfies Record<string, Entry>;

export type ContenderName = keyof typeof CONTENDERS;

/** The entry as the race reads it, whoever it is. */
export function entryOf(name: ContenderName): Entry {
  return CONTENDERS[name];
}
