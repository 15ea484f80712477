/** The disciplines of the race: contenders, measurement, and the goals of Workron. */

import type { ContenderName } from './contender.ts';
import { bulk, drain, latency, shell, singles } from './events.ts';

export interface Discipline {
  title: string;
  unit: string;
  /** The contenders; Workron is the first. */
  contenders: readonly ContenderName[];
  jobs: number;
  /** The least ratio of Workron to this contender; the greatest if lower is better. */
  goals: readonly { against: ContenderName; ratio: number; figure?: number }[];
  lowerIsBetter: boolean;
  /** The names of the figures if a round has several. */
  figures: readonly string[];
  run(name: ContenderName, url: string, jobs: number): Promise<number[]>;
}

const LATENCY = ['p50', 'p99'];

export const DISCIPLINES: readonly Discipline[] = [
  {
    title: 'drain, 1 process × 24',
    unit: 'jobs/s',
    contenders: ['workron', 'graphile-batch', 'pg-boss', 'bullmq', 'graphile'],
    jobs: 100_000,
    goals: [{ against: 'graphile-batch', ratio: 2.5 }],
    lowerIsBetter: false,
    figures: [''],
    run: async (name, url, jobs) => [await drain(name, url, { jobs, processes: 1 })],
  },
  {
    title: 'drain, 4 processes × 24',
    unit: 'jobs/s',
    contenders: ['workron', 'graphile-batch', 'bullmq'],
    jobs: 100_000,
    goals: [{ against: 'graphile-batch', ratio: 1.6 }],
    lowerIsBetter: false,
    figures: [''],
    run: async (name, url, jobs) => [await drain(name, url, { jobs, processes: 4 })],
  },
  {
    title: 'drain on SQLite, synchronous=FULL',
    unit: 'jobs/s',
    contenders: ['workron-sqlite', 'graphile-batch'],
    jobs: 50_000,
    goals: [{ against: 'graphile-batch', ratio: 2 }],
    lowerIsBetter: false,
    figures: [''],
    run: async (name, url, jobs) => [await drain(name, url, { jobs, processes: 1 })],
  },
  {
    title: 'drain over HTTP, 2 workers × 24, against 1 process',
    unit: 'jobs/s',
    contenders: ['workron-http', 'graphile-batch'],
    jobs: 50_000,
    goals: [{ against: 'graphile-batch', ratio: 1 }],
    lowerIsBetter: false,
    figures: [''],
    run: async (name, url, jobs) => [await drain(name, url, { jobs, processes: name === 'workron-http' ? 2 : 1 })],
  },
  {
    title: 'single submits, 50 in flight',
    unit: 'jobs/s',
    contenders: ['workron', 'pg-boss', 'graphile-batch', 'bullmq', 'workron-http'],
    jobs: 20_000,
    goals: [
      { against: 'pg-boss', ratio: 25 },
      { against: 'graphile-batch', ratio: 25 },
      { against: 'bullmq', ratio: 2 },
    ],
    lowerIsBetter: false,
    figures: [''],
    run: async (name, url, jobs) => [await singles(name, url, { jobs, inFlight: 50 })],
  },
  {
    title: 'bulk submits, 1,000 a call',
    unit: 'jobs/s',
    contenders: ['workron', 'graphile-batch', 'pg-boss', 'bullmq'],
    jobs: 50_000,
    goals: [{ against: 'graphile-batch', ratio: 2.5 }],
    lowerIsBetter: false,
    figures: [''],
    run: async (name, url, jobs) => [await bulk(name, url, { jobs })],
  },
  {
    title: 'submit to start, from another process',
    unit: 'ms',
    contenders: ['workron', 'graphile', 'pg-boss', 'bullmq'],
    jobs: 200,
    goals: [
      { against: 'graphile', ratio: 0.6, figure: 0 },
      { against: 'graphile', ratio: 0.8, figure: 1 },
    ],
    lowerIsBetter: true,
    figures: LATENCY,
    run: (name, url, jobs) => latencies(name, url, { jobs, apart: true }),
  },
  {
    title: 'submit to start, in one process',
    unit: 'ms',
    contenders: ['workron', 'bullmq', 'graphile'],
    jobs: 200,
    goals: [{ against: 'bullmq', ratio: 0.6, figure: 0 }],
    lowerIsBetter: true,
    figures: LATENCY,
    run: (name, url, jobs) => latencies(name, url, { jobs, apart: false }),
  },
  {
    title: 'shell jobs, true, 4 slots',
    unit: 'jobs/s',
    contenders: ['workron-shell', 'spawn'],
    jobs: 1_500,
    goals: [{ against: 'spawn', ratio: 1.2 }],
    lowerIsBetter: false,
    figures: [''],
    run: async (name, url, jobs) => [await shell(name, url, { jobs, slots: 4 })],
  },
  {
    title: 'shell jobs with 1 GB in the worker, against itself',
    unit: 'jobs/s',
    contenders: ['workron-shell-heap', 'workron-shell'],
    jobs: 1_500,
    goals: [{ against: 'workron-shell', ratio: 0.9 }],
    lowerIsBetter: false,
    figures: [''],
    run: async (name, url, jobs) => [await shell(name, url, { jobs, slots: 4 })],
  },
];

async function latencies(name: ContenderName, url: string, options: { jobs: number; apart: boolean }) {
  const { p50, p99 } = await latency(name, url, options);
  return [p50, p99];
}
