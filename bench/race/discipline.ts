/** The tables of the race: who takes part, what is measured, and what Workron has to reach against whom. */

import { totalUs, type Usage } from '../usage.ts';
import type { ContenderName } from './contender.ts';
import { bulk, drain, type Entrant, latency, type Measured, shell, singles, type Work } from './events.ts';
import { LARGE_BYTES } from './payload.ts';

export interface Figure {
  name: string;
  unit: string;
  lowerIsBetter: boolean;
}

export interface Goal {
  against: ContenderName;
  figure: string;
  /** Ours divided by theirs is to be at least, or, where lower is better, at most this. */
  ratio: number;
}

export interface Discipline {
  title: string;
  /** The first is ours. */
  contenders: readonly ContenderName[];
  jobs: number;
  /** Of a job's input as JSON; `undefined` where the command line decides. */
  bytes?: number;
  goals: readonly Goal[];
  figures: readonly Figure[];
  run(entrant: Entrant, work: Work): Promise<Measured>;
}

const RATE: Figure = { name: 'rate', unit: 'jobs/s', lowerIsBetter: false };
const P50: Figure = { name: 'p50', unit: 'ms', lowerIsBetter: true };
const P99: Figure = { name: 'p99', unit: 'ms', lowerIsBetter: true };

export const PROCESSOR = 'processor time per job';

/** What stands beside each rate. */
export const COSTS: readonly (Figure & { of: (usage: Usage) => number })[] = [
  { name: 'Node, per job', unit: 'µs', lowerIsBetter: true, of: ({ nodeUs }) => nodeUs },
  { name: 'database, per job', unit: 'µs', lowerIsBetter: true, of: ({ serverUs }) => serverUs },
  { name: PROCESSOR, unit: 'µs', lowerIsBetter: true, of: totalUs },
  { name: 'WAL per job', unit: 'bytes', lowerIsBetter: true, of: ({ walBytes }) => walBytes },
  {
    name: 'WAL per job without page images',
    unit: 'bytes',
    lowerIsBetter: true,
    of: ({ walBytesWithoutPages }) => walBytesWithoutPages,
  },
];

/** All that a round of this discipline gives, in the order of its values. */
export function figuresOf({ figures }: Discipline): readonly Figure[] {
  return [...figures, ...COSTS];
}

const atLeast = (against: ContenderName, ratio: number): Goal => ({ against, figure: RATE.name, ratio });
const atMost = (against: ContenderName, figure: string, ratio: number): Goal => ({ against, figure, ratio });

function drains(processes: number, analyze = true): Discipline['run'] {
  return (entrant, work) => drain(entrant, { ...work, processes, analyze });
}

export const DISCIPLINES: readonly Discipline[] = [
  {
    title: 'drain, 1 process × 24',
    contenders: ['workron', 'graphile-batch', 'pg-boss', 'dbos', 'bullmq', 'graphile'],
    jobs: 100_000,
    goals: [atLeast('graphile-batch', 2), atMost('graphile-batch', PROCESSOR, 0.7)],
    figures: [RATE],
    run: drains(1),
  },
  {
    title: 'drain, 4 processes × 24',
    contenders: ['workron', 'graphile-batch', 'pg-boss', 'dbos', 'bullmq'],
    jobs: 100_000,
    goals: [atLeast('graphile-batch', 1.4), atMost('graphile-batch', PROCESSOR, 0.7)],
    figures: [RATE],
    run: drains(4),
  },
  {
    title: 'drain, 1 process × 24, 2 KB a job',
    contenders: ['workron', 'graphile-batch', 'pg-boss', 'bullmq'],
    jobs: 50_000,
    bytes: LARGE_BYTES,
    goals: [],
    figures: [RATE],
    run: drains(1),
  },
  {
    // PostgreSQL plans for tables that were never analysed, as in the first minute of an installation. Not the race itself.
    title: 'drain, 1 process × 24, cold statistics',
    contenders: ['workron', 'graphile-batch', 'pg-boss'],
    jobs: 100_000,
    goals: [],
    figures: [RATE],
    run: drains(1, false),
  },
  {
    title: 'drain on SQLite, synchronous=FULL',
    contenders: ['workron-sqlite', 'graphile-batch'],
    jobs: 50_000,
    goals: [atLeast('graphile-batch', 2)],
    figures: [RATE],
    run: drains(1),
  },
  {
    title: 'drain over HTTP, 2 workers × 24, against 1 process',
    contenders: ['workron-http', 'graphile-batch'],
    jobs: 50_000,
    goals: [atLeast('graphile-batch', 1)],
    figures: [RATE],
    run: (entrant, work) => drains(entrant.name === 'workron-http' ? 2 : 1)(entrant, work),
  },
  {
    title: 'bulk submits, 1,000 a call',
    contenders: ['workron', 'graphile-batch', 'pg-boss', 'dbos', 'bullmq'],
    jobs: 50_000,
    goals: [atLeast('graphile-batch', 1.8)],
    figures: [RATE],
    run: bulk,
  },
  {
    title: 'bulk submits, 1,000 a call, 2 KB a job',
    contenders: ['workron', 'graphile-batch', 'pg-boss', 'bullmq'],
    jobs: 20_000,
    bytes: LARGE_BYTES,
    goals: [],
    figures: [RATE],
    run: bulk,
  },
  {
    title: 'single submits, 50 in flight',
    contenders: ['workron', 'pg-boss', 'graphile-batch', 'dbos', 'bullmq', 'workron-http'],
    jobs: 20_000,
    goals: [atLeast('bullmq', 1.2)],
    figures: [RATE],
    run: (entrant, work) => singles(entrant, { ...work, inFlight: 50 }),
  },
  {
    title: 'submit to start, from another process',
    contenders: ['workron', 'graphile', 'pg-boss', 'dbos', 'bullmq'],
    jobs: 500,
    goals: [atMost('graphile', P50.name, 0.8), atMost('graphile', P99.name, 0.8)],
    figures: [P50, P99],
    run: (entrant, work) => latency(entrant, { ...work, apart: true }),
  },
  {
    title: 'submit to start, in one process',
    contenders: ['workron', 'graphile', 'bullmq'],
    jobs: 500,
    goals: [],
    figures: [P50, P99],
    run: (entrant, work) => latency(entrant, { ...work, apart: false }),
  },
  {
    title: 'shell jobs, true, 4 slots',
    contenders: ['workron-shell', 'spawn'],
    jobs: 1_500,
    goals: [atLeast('spawn', 1.2)],
    figures: [RATE],
    run: (entrant, { jobs }) => shell(entrant, { jobs, slots: 4 }),
  },
  {
    title: 'shell jobs with 1 GB in the worker, against itself',
    contenders: ['workron-shell-heap', 'workron-shell'],
    jobs: 1_500,
    goals: [atLeast('workron-shell', 0.9)],
    figures: [RATE],
    run: (entrant, { jobs }) => shell(entrant, { jobs, slots: 4 }),
  },
];
