import type { Command } from 'commander';
import type { Job } from '../../api/job.ts';
import { changeCommand } from './change.ts';

/** `workron retry ID…`: failed, cancelled and skipped jobs wait again, with a full budget. */
export function retryCommand(): Command {
  return changeCommand({
    name: 'retry',
    summary: 'Run failed, cancelled or skipped jobs again',
    told: (job: Job) => `job ${job.id} ${job.status} again`,
  });
}
