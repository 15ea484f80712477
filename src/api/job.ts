/** Jobs and their attempts as readers see them. */

import { z } from 'zod';
import { ATTEMPT_OUTCOMES } from '../core/attempt-end.ts';
import { CONDITIONS } from '../core/dag/conditions.ts';
import { BACKOFF_TYPES, ON_DISCONNECT, REASONS, RERUN, STATUSES } from '../core/job.ts';
import { CUT_FIELDS } from '../core/job-filter.ts';
import { ON_LIMIT } from '../core/meter.ts';
import { Checkpoint } from './checkpoint.ts';
import { duration, wireId, wireInstant } from './fields.ts';
import { Gang } from './gang.ts';
import { metersShape } from './meters.ts';
import { NotificationSubject, NotifyView, SentNotification } from './notify.ts';
import { Progress } from './report.ts';
import { itemsOf, named, pageOf, strict } from './schemas.ts';
import { Failure, ThrownError } from './thrown.ts';
import { TickOfJob } from './tick-of-job.ts';
import { Usage } from './usage.ts';
import { Waiting } from './waiting.ts';

const ms = z.number().meta({ description: 'Milliseconds.' });

/** The submitted fields, with defaults filled in. Durations are milliseconds. */
export const specShape = {
  name: z.string().nullable(),
  queue: z.string(),
  priority: z.number(),
  command: z.string().nullable(),
  handler: z.string().nullable(),
  input: z.unknown().meta({ description: 'null if it is sealed: it cannot be read back.' }),
  // Schedulers of earlier versions do not send it.
  seal_input: z.boolean().default(false).meta({ description: 'The store has the input encrypted.' }),
  max_attempts: z.number(),
  backoff: z.object({
    type: z.enum(BACKOFF_TYPES),
    base: ms,
    factor: z.number(),
    cap: ms,
    jitter: z.number(),
  }),
  retry_on: z.array(z.number()).nullable(),
  no_retry_on: z.array(z.number()).nullable(),
  timeout: ms,
  start_timeout: ms.nullable(),
  kill_grace: ms,
  rerun: z.enum(RERUN),
  on_disconnect: z.enum(ON_DISCONNECT),
  cwd: z.string().nullable(),
  tags: z.array(z.string()),
  requires: z.array(z.string()),
  resources: z.record(z.string(), z.number()),
  fair_key: z.string().nullable(),
  ...metersShape,
  on_limit: z.enum(ON_LIMIT),
  // Schedulers of earlier versions do not send it.
  gang: Gang.nullable().default(null),
};

const jobShape = {
  id: wireId,
  status: z.enum(STATUSES),
  ...specShape,
  env: z.array(z.string()).meta({ description: 'Names only: values cannot be read back.' }),
  depends_on: z.array(z.object({ job: wireId, if: z.enum(CONDITIONS) })),
  continue_on_failure: z
    .boolean()
    .meta({ description: 'The failure of this job counts as success for its children and its workflow.' }),
  notify: NotifyView,
  workflow_id: wireId.nullable().meta({ description: 'The workflow of which it is a step.' }),
  step: z.string().nullable().meta({ description: 'The key of the step.' }),
  group_id: wireId.nullable().meta({ description: 'For an item: the job of its for_each step.' }),
  index: z.number().nullable().meta({ description: 'For an item: its position in the list, from 0.' }),
  rerun_of: wireId.nullable().meta({ description: 'The job that this one repeats.' }),
  unique_key: z
    .string()
    .nullable()
    .meta({ description: 'The unique key that it was submitted with, whether or not it still holds it.' }),
  tick: TickOfJob.nullable().meta({ description: 'The tick of the schedule that it runs for.' }),
  submitted_by: z
    .string()
    .nullable()
    .meta({ description: 'Who submitted it, such as the name of a token; null if the caller has no name.' }),
  run_at: wireInstant.meta({ description: 'When it is, or was, due.' }),
  attempts: z
    .number()
    .meta({ description: 'The number of claims so far, which is the number of the current or last attempt.' }),
  failures: z.number(),
  interruptions: z.number(),
  snoozes: z.number(),
  created_at: wireInstant,
  started_at: wireInstant.nullable(),
  done_at: wireInstant.nullable(),
  expires_at: wireInstant
    .nullable()
    .meta({ description: 'The job fails if it has not started by then (start_timeout).' }),
  last_heartbeat: wireInstant.nullable(),
  worker_id: wireId.nullable(),
  exit_code: z.number().nullable(),
  signal: z.string().nullable(),
  error: z.string().nullable(),
  failure: Failure.nullable(),
  thrown: ThrownError.nullable().meta({ description: 'The error that the handler threw; null for commands.' }),
  reason: z.enum(REASONS).nullable(),
  result: z.unknown(),
  progress: Progress.nullable(),
  checkpoint: Checkpoint.nullable().meta({ description: 'The checkpoint that its next attempt can continue from.' }),
  cancel_requested_at: wireInstant.nullable(),
  suspended: z
    .object({ since: wireInstant, until: wireInstant.meta({ description: 'When it goes on at the latest.' }) })
    .exactOptional()
    .meta({ description: 'Its function waits, without a worker. GET /jobs/{id}/steps lists what for.' }),
  steps: z.number().exactOptional().meta({ description: 'How many steps its function has stored; absent for none.' }),
  steps_unused: z
    .array(z.string())
    .exactOptional()
    .meta({ description: 'Stored steps that its function did not ask for when it ended.' }),
};

export const Job = named('Job', z.object(jobShape));
export type Job = z.output<typeof Job>;

/** One job, with what it waits for and the notifications about it. */
export const JobDetail = named(
  'JobDetail',
  z.object({
    ...jobShape,
    waiting: Waiting.nullable().meta({ description: 'What the job waits for.' }),
    notifications: z
      .array(SentNotification)
      .meta({ description: 'Notifications about it, with the jobs that deliver them.' }),
    notifies: NotificationSubject.nullable().meta({
      description: 'For a job that delivers a notification: its subject.',
    }),
  }),
);
export type JobDetail = z.output<typeof JobDetail>;

/** A submitted job. `deduplicated`: an existing job with the same unique key was returned instead of a new one. */
export const SubmittedJob = named('SubmittedJob', z.object({ ...jobShape, deduplicated: z.boolean() }));
export type SubmittedJob = z.output<typeof SubmittedJob>;

const SubmittedJobs = named('SubmittedJobs', itemsOf(SubmittedJob));

/** One job for one job, a list for an array. */
export const Submitted = named('Submitted', z.union([SubmittedJob, SubmittedJobs]));

/** A job in a list. `GET /jobs/{id}` has all of it. */
export const ListedJob = named(
  'ListedJob',
  z.object({
    ...jobShape,
    cut: z
      .array(z.enum(CUT_FIELDS))
      .meta({
        description: 'Fields too long for a list: text is shortened, JSON is left out. Read the job for all of it.',
      })
      .exactOptional(),
  }),
);
export type ListedJob = z.output<typeof ListedJob>;

export const JobPage = named(
  'JobPage',
  pageOf(ListedJob).extend({
    searched_back_to: wireInstant
      .nullable()
      .meta({
        description:
          'With q, error or submitted_by: jobs submitted until then were not searched; null if all jobs were.',
      })
      .exactOptional(),
  }),
);
export type JobPage = z.output<typeof JobPage>;

export const Attempt = named(
  'Attempt',
  z.object({
    attempt: z.number(),
    worker_id: wireId.nullable(),
    started_at: wireInstant,
    ended_at: wireInstant,
    outcome: z.enum(ATTEMPT_OUTCOMES),
    exit_code: z.number().nullable(),
    signal: z.string().nullable(),
    error: z.string().nullable(),
    thrown: ThrownError.nullable(),
    usage: Usage.nullable().meta({ description: 'null if the worker did not report it, and for handlers.' }),
  }),
);
export type Attempt = z.output<typeof Attempt>;

export const AttemptList = named('AttemptList', itemsOf(Attempt));

const MAX_WAIT_MS = 600_000;

export const WaitQuery = strict({
  timeout: duration()
    .refine((ms) => ms <= MAX_WAIT_MS, 'expected at most 10m; wait again for more')
    .exactOptional(),
});
