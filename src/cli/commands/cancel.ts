import type { Command } from 'commander';
import type { Job } from '../../api/job.ts';
import { changeCommand } from './change.ts';

/** `workron cancel ID…`: waiting jobs end at once, running ones are asked to stop. */
export function cancelCommand(): Command {
  return changeCommand({
    name: 'cancel',
    summary: 'Cancel jobs: waiting ones at once, running ones are stopped',
    told: (job: Job) => (job.status === 'running' ? `job ${job.id} is being stopped` : `job ${job.id} ${job.status}`),
  });
}
