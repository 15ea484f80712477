/** Schedules as they are submitted and read. */

import { z } from 'zod';
import { STATUSES } from '../core/job.ts';
import { CRON_SEPARATOR } from '../core/schedule/cron.ts';
import { CATCHUP_POLICIES, MAX_CAUGHT_UP } from '../core/schedule/plan-ticks.ts';
import { MAX_KEYS, OVERLAP_POLICIES, SCHEDULE_NAME } from '../core/schedule/schedule.ts';
import { TICK_VERDICTS } from '../core/schedule/tick.ts';
import { duration, instant, label, pageQuery, text, wholeNumber, wireId, wireInstant, wireQueues } from './fields.ts';
import { specShape } from './job.ts';
import { envValue, JobSubmission, variableName } from './job-submission.ts';
import { NotifyList, NotifyView } from './notify.ts';
import { named, pageOf, strict } from './schemas.ts';
import { ScheduledDefinition } from './workflow/stored.ts';
import { WorkflowSubmission } from './workflow/workflow.ts';

export const scheduleName = z
  .string()
  .regex(SCHEDULE_NAME, 'expected a name of a-z, 0-9, ".", "_" and "-", at most 128 long')
  // In a path these two mean other places.
  .refine((name) => name !== '.' && name !== '..', 'expected a name that is not "." or ".."')
  .meta({ examples: ['nightly-report'] });

/** A key of `for_each`: a tenant, a shop, a region. */
export const scheduleKey = label(256).meta({ examples: ['tenant-a'] });

const { gang: _gang, ...single } = JobSubmission.shape;
const { run_at: _at, delay: _delay, unique: _unique, depends_on: _parents, ...jobShape } = single;

/** One expression, or several: the schedule is due whenever one of them is. Decodes to one text. */
export const cronExpression = z
  .union(
    [text(1_024), z.array(text(256)).min(1, 'expected at least one expression')],
    'expected an expression such as "0 2 * * *", or a list of them',
  )
  .transform((value) => (typeof value === 'string' ? value : value.join(`${CRON_SEPARATOR} `)))
  .meta({
    description:
      '5 fields, or 6 with seconds first, or a macro such as @daily; several in a list, or separated by ";".',
    examples: ['0 2 * * *'],
  });

/** A job without the fields that the schedule decides: when it is due and what it depends on. */
const ScheduledJob = named(
  'ScheduledJob',
  strict(jobShape, { gang: 'a run is one job: for a gang, expected a workflow with a step that has gang' })
    .refine((job) => (job.command === undefined) !== (job.handler === undefined), {
      message: 'expected exactly one of command and handler',
    })
    .refine((job) => job.max_attempts === undefined || job.max_retries === undefined, {
      path: ['max_retries'],
      message: 'expected max_attempts or max_retries, not both',
    })
    .refine((job) => job.input === undefined || job.handler !== undefined, {
      path: ['input'],
      message: 'input goes to a handler; a command gets its values by env',
    }),
);

type NullableFields<S> = {
  [Field in keyof S]: S[Field] extends z.ZodExactOptional<infer T extends z.ZodType>
    ? z.ZodExactOptional<z.ZodNullable<T>>
    : never;
};

const nullableShape = Object.fromEntries(
  Object.entries(jobShape).map(([field, schema]) => [field, schema.unwrap().nullable().exactOptional()]),
) as unknown as NullableFields<typeof jobShape>;

/** Fields of the job that change; the others stay. */
const ScheduledJobEdit = named(
  'ScheduledJobEdit',
  strict({
    ...nullableShape,
    command: jobShape.command,
    handler: jobShape.handler,
    env: z
      .record(variableName, envValue.nullable())
      .nullable()
      .meta({ description: 'Variables by name; null removes one, or all.' })
      .exactOptional(),
  })
    .refine((job) => Object.keys(job).length > 0, 'expected at least one field to change')
    .refine((job) => job.command === undefined || job.handler === undefined, {
      message: 'expected command or handler, not both',
    })
    .refine((job) => job.max_attempts === undefined || job.max_retries === undefined, {
      path: ['max_retries'],
      message: 'expected max_attempts or max_retries, not both',
    }),
).meta({ description: 'Changes fields of the job; null sets a field to its default.' });
export type ScheduledJobEdit = z.output<typeof ScheduledJobEdit>;

const catchup = strict({
  policy: z
    .enum(CATCHUP_POLICIES)
    .meta({ description: 'Which ticks run after downtime: none, the latest (the default), or all.' })
    .exactOptional(),
  window: duration(1)
    .meta({ description: 'Older ticks are missed. 1h by default; less than 10s counts as 10s.' })
    .exactOptional(),
  max: wholeNumber(1, MAX_CAUGHT_UP)
    .meta({ description: 'With all: the largest number of ticks, newest first. 10 by default.' })
    .exactOptional(),
});

/** The fields of a schedule except its name and owner. */
export const scheduleSpecShape = {
  cron: cronExpression.exactOptional(),
  every: duration(1_000)
    .meta({ description: 'A period of elapsed time, instead of cron.', examples: ['15m'] })
    .exactOptional(),
  anchor: instant
    .meta({ description: 'The instant from which every is counted. 1970-01-01T00:00:00Z by default.' })
    .exactOptional(),
  timezone: label(64)
    .meta({ description: 'An IANA name. UTC by default.', examples: ['Europe/Berlin'] })
    .exactOptional(),
  overlap: z
    .enum(OVERLAP_POLICIES)
    .meta({
      description:
        'If an earlier run has not ended: skip the tick (the default), let one run wait, allow both, or cancel the earlier run.',
    })
    .exactOptional(),
  catchup: catchup.exactOptional(),
  jitter: duration()
    .meta({ description: 'Spreads runs over this time; each schedule and key has a fixed delay.' })
    .exactOptional(),
  start_at: instant.nullable().meta({ description: 'The first instant at which ticks count.' }).exactOptional(),
  end_at: instant.nullable().meta({ description: 'Ticks must be before this instant.' }).exactOptional(),
  for_each: z
    .array(scheduleKey)
    .min(1, 'expected at least one key')
    .max(MAX_KEYS, `at most ${MAX_KEYS} keys`)
    .refine((keys) => new Set(keys).size === keys.length, 'each key may be named once')
    .nullable()
    .meta({ description: 'Each tick runs once for each of these keys, which commands get as WORKRON_ITEM.' })
    .exactOptional(),
  job: ScheduledJob.exactOptional(),
  workflow: WorkflowSubmission.exactOptional(),
  definition: ScheduledDefinition.meta({
    description: 'A stored workflow, instead of job or workflow.',
  }).exactOptional(),
  notify: NotifyList.exactOptional(),
};

const ownerShape = {
  owner: label(256)
    .nullable()
    .meta({ description: 'Who maintains it: `workron apply` removes only schedules of its own owner.' })
    .exactOptional(),
};

type Fields = { [Field in 'cron' | 'every' | 'job' | 'workflow' | 'definition' | 'anchor']?: unknown };

const ofBoth = (a: keyof Fields, b: keyof Fields) => (wire: Fields) => wire[a] === undefined || wire[b] === undefined;

/** Adds the rules about fields that depend on each other. */
export function coherent<S extends z.ZodType<Fields>>(schema: S) {
  return schema
    .refine(
      (wire) => (wire.cron === undefined) !== (wire.every === undefined),
      'expected exactly one of cron and every',
    )
    .refine(
      ({ job, workflow, definition }) => [job, workflow, definition].filter((one) => one !== undefined).length === 1,
      'expected exactly one of job, workflow and definition',
    )
    .refine(ofBoth('anchor', 'cron'), { path: ['anchor'], message: 'anchor goes with every' });
}

export const ScheduleSubmission = named(
  'ScheduleSubmission',
  coherent(strict({ name: scheduleName, ...scheduleSpecShape, ...ownerShape })),
);
export type ScheduleSubmission = z.output<typeof ScheduleSubmission>;
export type ScheduleSubmissionInput = z.input<typeof ScheduleSubmission>;

/** A whole schedule whose name is in the path. */
export const ScheduleDeclaration = named(
  'ScheduleDeclaration',
  coherent(strict({ ...scheduleSpecShape, ...ownerShape })),
);
export type ScheduleDeclarationInput = z.input<typeof ScheduleDeclaration>;

/** Fields that are left out do not change, also within `job`; `cron` and `every` replace each other, and so do `job` and `workflow`. */
export const ScheduleEdit = named(
  'ScheduleEdit',
  strict({ ...scheduleSpecShape, job: ScheduledJobEdit.exactOptional(), ...ownerShape })
    .refine((edit) => Object.keys(edit).length > 0, 'expected at least one field to change')
    .refine(ofBoth('cron', 'every'), { path: ['every'], message: 'expected cron or every, not both' })
    .refine(ofBoth('job', 'workflow'), { path: ['workflow'], message: 'expected job or workflow, not both' })
    .refine(ofBoth('job', 'definition'), { path: ['definition'], message: 'expected job or definition, not both' })
    .refine(ofBoth('workflow', 'definition'), {
      path: ['definition'],
      message: 'expected workflow or definition, not both',
    })
    .refine(ofBoth('anchor', 'cron'), { path: ['anchor'], message: 'anchor goes with every' }),
);
export type ScheduleEdit = z.output<typeof ScheduleEdit>;
export type ScheduleEditInput = z.input<typeof ScheduleEdit>;

const ms = z.number().meta({ description: 'Milliseconds.' });

export const Schedule = named(
  'Schedule',
  z.object({
    name: z.string(),
    description: z.string().nullable().meta({ description: 'When it is due, in words.' }),
    cron: z.string().nullable(),
    every: ms.nullable(),
    anchor: wireInstant.nullable(),
    timezone: z.string(),
    overlap: z.enum(OVERLAP_POLICIES),
    catchup: z.object({ policy: z.enum(CATCHUP_POLICIES), window: ms, max: z.number() }),
    jitter: ms,
    start_at: wireInstant.nullable(),
    end_at: wireInstant.nullable(),
    for_each: z.array(z.string()).nullable(),
    job: z.object({ ...specShape, env: z.array(z.string()).meta({ description: 'Names only.' }) }).nullable(),
    notify: NotifyView,
    workflow: z
      .object({
        name: z.string(),
        params: z.record(z.string(), z.unknown()),
        steps: z.array(z.object({ key: z.string(), depends_on: z.array(z.string()) })),
      })
      .nullable(),
    definition: z
      .object({
        name: z.string(),
        version: z.number(),
        latest: z.boolean().meta({ description: 'True if it follows each new version.' }),
        params: z.record(z.string(), z.unknown()).meta({ description: 'As they were given.' }),
      })
      .nullable()
      .meta({ description: 'The stored definition that the workflow was made from.' }),
    queues: wireQueues,
    owner: z.string().nullable(),
    created_at: wireInstant,
    updated_at: wireInstant,
    next_run: wireInstant
      .nullable()
      .meta({ description: 'The next tick; null while the schedule is paused, and after its end.' }),
    last_run: wireInstant.nullable().meta({ description: 'The newest tick that ran.' }),
    last_verdict: z.enum(TICK_VERDICTS).nullable().meta({ description: 'The verdict of the newest tick.' }),
    last_job_id: wireId.nullable(),
    last_workflow_id: wireId.nullable(),
    paused_at: wireInstant.nullable(),
    paused_note: z.string().nullable(),
  }),
);
export type Schedule = z.output<typeof Schedule>;

export const ScheduleDetail = named(
  'ScheduleDetail',
  Schedule.extend({
    last_status: z
      .enum(STATUSES)
      .nullable()
      .meta({ description: 'The status of the last run; null if there is none.' }),
    recent: z.partialRecord(z.enum(STATUSES), z.number()).meta({
      description: 'How many of the newest 20 ticks have a run with this status.',
      examples: [{ done: 18, failed: 2 }],
    }),
  }),
);
export type ScheduleDetail = z.output<typeof ScheduleDetail>;

export const SchedulePage = named('SchedulePage', pageOf(ScheduleDetail));
export type SchedulePage = z.output<typeof SchedulePage>;

export const ScheduleListQuery = strict({
  owner: label(256).exactOptional(),
  q: text(128).meta({ description: 'Part of the name.' }).exactOptional(),
  ...pageQuery({ maxCursorLength: 1_024, example: 'YWZ0ZXI6YQ' }),
});

export const PauseRequest = named(
  'PauseRequest',
  strict({
    note: text(1_024).meta({ description: 'The reason, for others who find it paused.' }).exactOptional(),
  }),
);

const keys = z.array(scheduleKey).min(1).max(MAX_KEYS).meta({ description: 'Only for these keys of for_each.' });

export const ScheduleRunRequest = named('ScheduleRunRequest', strict({ keys: keys.exactOptional() }));

export const BackfillRequest = named(
  'BackfillRequest',
  strict({
    from: instant.meta({ description: 'The first instant of the range, inclusive.' }),
    to: instant.meta({ description: 'The end of the range, exclusive; not later than now.' }),
    keys: keys.exactOptional(),
    dry_run: z.boolean().meta({ description: 'List what would run, and run nothing.' }).exactOptional(),
  }).refine(({ from, to }) => from < to, { path: ['to'], message: 'expected an instant after from' }),
);
export type BackfillRequestInput = z.input<typeof BackfillRequest>;
