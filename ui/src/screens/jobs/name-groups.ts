/** The jobs of a list by name: how many, how they went, how long they took. */

import type { ListedJob } from '../../../../src/api/job.ts';

export interface NameGroup {
  /** A job's name, else its step or handler; `null` for jobs that have none of these. */
  title: string | null;
  /** The name to filter by; `null` if the jobs of the group have no name. */
  name: string | null;
  jobs: number;
  unfinished: number;
  ended: number;
  failed: number;
  /** How long the ended ones ran. */
  median: number | null;
  p95: number | null;
  /** The newest first. */
  newest: readonly ListedJob[];
}

const MAX_CELLS = 15;

/** Groups jobs that are sorted by age, the newest first. Groups with the most failures come first. */
export function byName(jobs: readonly ListedJob[]): NameGroup[] {
  const groups = Map.groupBy(jobs, (job) => job.name ?? job.step ?? job.handler);
  return [...groups]
    .map(([title, members]) => groupOf(title, members))
    .sort((a, b) => b.failed - a.failed || b.jobs - a.jobs);
}

function groupOf(title: string | null, jobs: readonly ListedJob[]): NameGroup {
  const ended = jobs.filter(({ done_at }) => done_at !== null);
  const took = ended
    .flatMap(({ started_at, done_at }) =>
      started_at === null || done_at === null ? [] : [Date.parse(done_at) - Date.parse(started_at)],
    )
    .sort((a, b) => a - b);
  return {
    title,
    name: jobs[0]?.name ?? null,
    jobs: jobs.length,
    unfinished: jobs.length - ended.length,
    ended: ended.length,
    failed: jobs.filter(({ status }) => status === 'failed').length,
    median: at(took, 0.5),
    p95: at(took, 0.95),
    newest: jobs.slice(0, MAX_CELLS),
  };
}

function at(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
}
