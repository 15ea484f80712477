import { visibleLine } from './visible-text.ts';

interface Titled {
  id: string;
  name: string | null;
  step?: string | null;
  index?: number | null;
  handler?: string | null;
  command?: string | null;
}

/** The title of a job: its name, else its step, its handler or the first line of its command. */
export function jobTitle(job: Titled): string {
  const step = job.step == null ? null : job.index == null ? job.step : `${job.step} [${job.index}]`;
  return visibleLine(job.name ?? step ?? job.handler ?? job.command?.trim().split('\n', 1)[0] ?? `job ${job.id}`);
}
