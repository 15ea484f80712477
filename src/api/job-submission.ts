/** Jobs as they are submitted. */

import { z } from 'zod';
import { CONDITIONS } from '../core/dag/conditions.ts';
import { BACKOFF_TYPES, ON_DISCONNECT, RERUN } from '../core/job.ts';
import { ON_LIMIT } from '../core/meter.ts';
import { UNIQUE_CONFLICTS } from '../core/unique.ts';
import { isCommandInput } from './command-input.ts';
import { duration, instant, label, storeId, text, wholeNumber } from './fields.ts';
import { coherentGang, GangSubmission } from './gang.ts';
import { limitList, rateList } from './meters.ts';
import { NotifyList } from './notify.ts';
import { named, strict } from './schemas.ts';
import { secretName } from './secret.ts';

/** Limits of the request body. */
export const MAX_JOB_BYTES = 1024 * 1024;
export const MAX_ARRAY_BYTES = 64 * 1024 * 1024;
export const MAX_JOBS = 100_000;

/** A worker that shuts down waits this long for a command that ignores SIGTERM. */
const MAX_KILL_GRACE_MS = 3_600_000;

export const queueName = label(128).meta({ examples: ['default'] });
export const priority = wholeNumber(-32_768, 32_767);
export const tagList = z.array(label(128)).max(64, 'at most 64 tags');
export const maxAttempts = wholeNumber(1, 10_000);
const exitCodes = z.array(wholeNumber(0, 255)).max(256);

export const amounts = z
  .record(label(128), z.number().min(0).max(Number.MAX_SAFE_INTEGER))
  .refine((value) => Object.keys(value).length <= 64, 'at most 64 resources')
  .meta({ examples: [{ memory_mb: 512, gpu: 1 }] });

const backoff = strict({
  type: z.enum(BACKOFF_TYPES).exactOptional(),
  base: duration().exactOptional(),
  factor: z.number().min(1).max(1_000).exactOptional(),
  cap: duration().exactOptional(),
  jitter: z.number().min(0).max(1).exactOptional(),
});

const FOLLOWING: readonly (string | undefined)[] = ['supersede', 'after'];
const REPLACING: readonly (string | undefined)[] = ['replace', ...FOLLOWING];

const unique = strict({
  key: label(512),
  while: z
    .union([z.enum(['pending', 'active']), duration(1)], 'expected "pending", "active" or a duration')
    .exactOptional(),
  on_conflict: z.enum(UNIQUE_CONFLICTS).exactOptional(),
  wait: duration(1)
    .meta({ description: 'Debounce: start this long after the submission; with replace, after the last one.' })
    .exactOptional(),
  max_wait: duration(1)
    .meta({ description: 'With wait and replace: start at the latest this long after the first submission.' })
    .exactOptional(),
})
  .refine(({ wait, max_wait }) => max_wait === undefined || (wait !== undefined && max_wait >= wait), {
    path: ['max_wait'],
    message: 'expected at least wait, which must be given too',
  })
  .refine(({ on_conflict, max_wait }) => max_wait === undefined || REPLACING.includes(on_conflict), {
    path: ['max_wait'],
    message: 'only a job that is replaced can wait for longer: expected on_conflict replace, supersede or after',
  })
  .refine(({ on_conflict, while: span = 'active' }) => span === 'active' || !FOLLOWING.includes(on_conflict), {
    path: ['while'],
    message: 'with on_conflict supersede and after, a job holds its key until its end: expected active',
  });

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const variableName = z.string().regex(VARIABLE_NAME, 'expected a name of letters, digits and _');
export const envValue = z.union(
  [z.string(), strict({ secret: secretName })],
  'expected a string, or {"secret": "NAME"}',
);

const environment = z
  .record(variableName, envValue)
  .meta({ examples: [{ STAGE: 'test', PW: { secret: 'db-password' } }] });

/** For more parents, use a workflow. */
const MAX_PARENTS = 10_000;

const condition = z.enum(CONDITIONS).meta({
  description: 'success (the default): the job is done; failure: it failed; ended: it ended in any way.',
});

const dependencies = z
  .array(
    z.union(
      [storeId, strict({ job: storeId, if: condition.exactOptional() })],
      'expected a job id such as "12", or {"job": "12", "if": "failure"}',
    ),
  )
  .max(MAX_PARENTS, `at most ${MAX_PARENTS} jobs`)
  .refine((list) => new Set(list.map(parentOf)).size === list.length, 'each job may be named once')
  .meta({ description: 'Jobs that must end first, by id; all conditions must be met.' });

/** Returns the id in either form of a dependency. */
export function parentOf(dependency: number | { job: number }): number {
  return typeof dependency === 'number' ? dependency : dependency.job;
}

export const JobSubmission = named(
  'JobSubmission',
  coherentGang(
    strict({
      command: text(MAX_JOB_BYTES)
        .meta({ examples: ['echo hi'], description: 'A shell line.' })
        .exactOptional(),
      handler: label(256).meta({ description: 'The name of a handler, instead of a command.' }).exactOptional(),
      input: z
        .unknown()
        .meta({
          description:
            'JSON for the handler. A job that is submitted by itself can have the standard input of its command here: a text, or {"base64": "…"}.',
        })
        .exactOptional(),
      name: label(256).exactOptional(),
      queue: queueName.exactOptional(),
      priority: priority.exactOptional(),
      run_at: instant.exactOptional(),
      delay: duration().exactOptional(),
      max_attempts: maxAttempts.exactOptional(),
      max_retries: wholeNumber(0, 10_000)
        .meta({
          description:
            'Accepted for compatibility: max_retries n is the same as max_attempts max(n, 1), so 0 still runs once.',
        })
        .exactOptional(),
      backoff: backoff.exactOptional(),
      retry_on: exitCodes.exactOptional(),
      no_retry_on: exitCodes.exactOptional(),
      timeout: duration(1).exactOptional(),
      start_timeout: duration(1).exactOptional(),
      kill_grace: duration(0, MAX_KILL_GRACE_MS).exactOptional(),
      rerun: z.enum(RERUN).exactOptional(),
      on_disconnect: z.enum(ON_DISCONNECT).exactOptional(),
      seal_input: z
        .boolean()
        .meta({
          description:
            'Encrypt the input in the store. Only the worker that runs the job gets it; it cannot be read back. Needs a server with a secrets key.',
        })
        .exactOptional(),
      env: environment.exactOptional(),
      cwd: label(4_096).exactOptional(),
      tags: tagList.exactOptional(),
      requires: tagList.exactOptional(),
      resources: amounts.exactOptional(),
      fair_key: label(256).exactOptional(),
      limits: limitList.exactOptional(),
      rates: rateList.exactOptional(),
      on_limit: z
        .enum(ON_LIMIT)
        .meta({ description: 'At a full limit: queue (the default): the job waits; skip: it ends as skipped.' })
        .exactOptional(),
      gang: GangSubmission.exactOptional(),
      depends_on: dependencies.exactOptional(),
      unique: unique.exactOptional(),
      notify: NotifyList.exactOptional(),
    })
      .refine((job) => (job.command === undefined) !== (job.handler === undefined), {
        message: 'expected exactly one of command and handler',
      })
      .refine((job) => job.run_at === undefined || job.delay === undefined, {
        path: ['delay'],
        message: 'expected run_at or delay, not both',
      })
      .refine((job) => job.unique?.wait === undefined || (job.delay === undefined && job.run_at === undefined), {
        path: ['unique', 'wait'],
        message: 'expected wait, or delay, or run_at',
      })
      .refine((job) => job.max_attempts === undefined || job.max_retries === undefined, {
        path: ['max_retries'],
        message: 'expected max_attempts or max_retries, not both',
      })
      .refine((job) => job.gang === undefined || job.unique === undefined, {
        path: ['unique'],
        message: 'a gang cannot have a unique key; use an idempotency key',
      })
      .refine((job) => job.input === undefined || job.handler !== undefined || isCommandInput(job.input), {
        path: ['input'],
        message: 'the input of a command is its standard input: expected a text, or {"base64": "…"}',
      }),
  ),
);
export type JobSubmission = z.output<typeof JobSubmission>;
/** Before decoding: durations and instants as text. */
export type JobSubmissionInput = z.input<typeof JobSubmission>;
/** A list, or one gang. */
export type JobsInput = readonly JobSubmissionInput[] | (JobSubmissionInput & { gang: object });

/** One job, or an array of which all or none are stored. */
export const JobsSubmission = named('JobsSubmission', z.union([JobSubmission, z.array(JobSubmission).max(MAX_JOBS)]));
