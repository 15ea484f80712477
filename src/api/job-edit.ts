/** Changes to a single job. */

import { z } from 'zod';
import { duration, instant } from './fields.ts';
import { maxAttempts, priority, queueName, tagList } from './job-submission.ts';
import { named, strict } from './schemas.ts';

/** Fields that can be changed while a job waits. */
export const JobEdit = named(
  'JobEdit',
  strict({
    priority: priority.exactOptional(),
    queue: queueName.exactOptional(),
    run_at: instant.exactOptional(),
    delay: duration().meta({ description: 'Instead of run_at: from now, by the clock of the store.' }).exactOptional(),
    timeout: duration(1).exactOptional(),
    max_attempts: maxAttempts.exactOptional(),
    tags: tagList.exactOptional(),
  })
    .refine((edit) => Object.keys(edit).length > 0, 'expected at least one field to change')
    .refine((edit) => edit.run_at === undefined || edit.delay === undefined, {
      path: ['delay'],
      message: 'expected run_at or delay, not both',
    }),
);
export type JobEdit = z.output<typeof JobEdit>;
export type JobEditInput = z.input<typeof JobEdit>;

export const JobCancel = strict({
  cascade: z
    .enum(['waiting', 'none'])
    .meta({
      description:
        'waiting (the default): descendants that can no longer run are cancelled too; none: children are judged by their conditions.',
    })
    .exactOptional(),
});
