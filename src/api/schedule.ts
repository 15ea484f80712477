/** Schedules as they are written and read. */

import { z } from 'zod';
import { CATCHUP_POLICIES, MAX_CAUGHT_UP } from '../core/schedule/plan-ticks.ts';
import { MAX_KEYS, OVERLAP_POLICIES, SCHEDULE_NAME } from '../core/schedule/schedule.ts';
import { TICK_VERDICTS } from '../core/schedule/tick.ts';
import { duration, instant, label, pageQuery, text, wholeNumber, wireId, wireInstant } from './fields.ts';
import { specShape } from './job.ts';
import { JobSubmission } from './job-submission.ts';
import { NotifyList, NotifyView } from './notify.ts';
import { named, pageOf, strict } from './schemas.ts';
import { WorkflowSubmission } from './workflow/workflow.ts';

export const scheduleName = z
  .string()
  .regex(SCHEDULE_NAME, 'expected a name of a-z, 0-9, ".", "_" and "-", at most 128 long')
  // As the last part of an address these two mean other places.
  .refine((name) => name !== '.' && name !== '..', 'expected a name that is not "." or ".."')
  .meta({ examples: ['nightly-report'] });

/** A key of `for_each`: a tenant, a shop, a region. */
export const scheduleKey = label(256).meta({ examples: ['tenant-a'] });

const { run_at: _at, delay: _delay, unique: _unique, depends_on: _parents, ...jobShape } = JobSubmission.shape;

/** A job without what the schedule itself decides: when it is due and what it waits for. */
export const ScheduledJob = named(
  'ScheduledJob',
  strict(jobShape)
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

const catchup = strict({
  policy: z
    .enum(CATCHUP_POLICIES)
    .meta({ description: 'Of ticks that nobody was there for: none, the latest (the default), or all of them.' })
    .exactOptional(),
  window: duration(1)
    .meta({ description: 'Those later than this are missed. 1h by default; less than 10s counts as 10s.' })
    .exactOptional(),
  max: wholeNumber(1, MAX_CAUGHT_UP)
    .meta({ description: 'With all: so many at most, the newest. 10 by default.' })
    .exactOptional(),
});

/** All that a schedule may say, apart from its name and owner. */
export const scheduleSpecShape = {
  cron: text(256)
    .meta({ description: '5 fields, or 6 with seconds first, or a macro such as @daily.', examples: ['0 2 * * *'] })
    .exactOptional(),
  every: duration(1_000)
    .meta({ description: 'A period of real time, instead of cron.', examples: ['15m'] })
    .exactOptional(),
  anchor: instant
    .meta({ description: 'From which every is counted. 1970-01-01T00:00:00Z by default.' })
    .exactOptional(),
  timezone: label(64)
    .meta({ description: 'An IANA name. UTC by default.', examples: ['Europe/Berlin'] })
    .exactOptional(),
  overlap: z
    .enum(OVERLAP_POLICIES)
    .meta({
      description:
        'While an earlier run has not ended: skip the tick (the default), let one wait, allow both, or cancel the earlier run.',
    })
    .exactOptional(),
  catchup: catchup.exactOptional(),
  jitter: duration()
    .meta({ description: 'Runs are spread over so long, each schedule and key at its own fixed place.' })
    .exactOptional(),
  start_at: instant.nullable().meta({ description: 'Ticks from then on.' }).exactOptional(),
  end_at: instant.nullable().meta({ description: 'Ticks before then.' }).exactOptional(),
  for_each: z
    .array(scheduleKey)
    .min(1, 'expected at least one key')
    .max(MAX_KEYS, `at most ${MAX_KEYS} keys`)
    .refine((keys) => new Set(keys).size === keys.length, 'each key may be named once')
    .nullable()
    .meta({ description: 'Each tick runs once for each of these, as WORKRON_ITEM.' })
    .exactOptional(),
  job: ScheduledJob.exactOptional(),
  workflow: WorkflowSubmission.exactOptional(),
  notify: NotifyList.exactOptional(),
};

const ownerShape = {
  owner: label(256)
    .nullable()
    .meta({ description: 'Who keeps it: `workron apply` removes only what has its own owner.' })
    .exactOptional(),
};

type Fields = { [Field in 'cron' | 'every' | 'job' | 'workflow' | 'anchor']?: unknown };

const ofBoth = (a: keyof Fields, b: keyof Fields) => (wire: Fields) => wire[a] === undefined || wire[b] === undefined;

/** Rules about fields that belong together. */
export function coherent<S extends z.ZodType<Fields>>(schema: S) {
  return schema
    .refine(
      (wire) => (wire.cron === undefined) !== (wire.every === undefined),
      'expected exactly one of cron and every',
    )
    .refine(
      (wire) => (wire.job === undefined) !== (wire.workflow === undefined),
      'expected exactly one of job and workflow',
    )
    .refine(ofBoth('anchor', 'cron'), { path: ['anchor'], message: 'anchor goes with every' });
}

/** One schedule, as it is made. */
export const ScheduleSubmission = named(
  'ScheduleSubmission',
  coherent(strict({ name: scheduleName, ...scheduleSpecShape, ...ownerShape })),
);
export type ScheduleSubmission = z.output<typeof ScheduleSubmission>;
export type ScheduleSubmissionInput = z.input<typeof ScheduleSubmission>;

/** The same where its name is in the address: what it is to be, as a whole. */
export const ScheduleDeclaration = named(
  'ScheduleDeclaration',
  coherent(strict({ ...scheduleSpecShape, ...ownerShape })),
);
export type ScheduleDeclarationInput = z.input<typeof ScheduleDeclaration>;

/** What is left out stays; `cron` and `every` take each other's place, and so do `job` and `workflow`. */
export const ScheduleEdit = named(
  'ScheduleEdit',
  strict({ ...scheduleSpecShape, ...ownerShape })
    .refine((edit) => Object.keys(edit).length > 0, 'expected at least one field to change')
    .refine(ofBoth('cron', 'every'), { path: ['every'], message: 'expected cron or every, not both' })
    .refine(ofBoth('job', 'workflow'), { path: ['workflow'], message: 'expected job or workflow, not both' })
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
    owner: z.string().nullable(),
    created_at: wireInstant,
    updated_at: wireInstant,
    next_run: wireInstant
      .nullable()
      .meta({ description: 'The next tick; null while it is paused, and once it is over.' }),
    last_run: wireInstant.nullable().meta({ description: 'The newest tick that ran.' }),
    last_verdict: z.enum(TICK_VERDICTS).nullable().meta({ description: 'Of the newest tick.' }),
    last_job_id: wireId.nullable(),
    last_workflow_id: wireId.nullable(),
    paused_at: wireInstant.nullable(),
    paused_note: z.string().nullable(),
  }),
);
export type Schedule = z.output<typeof Schedule>;

export const SchedulePage = named('SchedulePage', pageOf(Schedule));
export type SchedulePage = z.output<typeof SchedulePage>;

export const ScheduleListQuery = strict({
  owner: label(256).exactOptional(),
  q: text(128).meta({ description: 'Part of the name.' }).exactOptional(),
  ...pageQuery({ longestCursor: 1_024, example: 'YWZ0ZXI6YQ' }),
});

export const PauseRequest = named(
  'PauseRequest',
  strict({
    note: text(1_024).meta({ description: 'Why, for whoever finds it paused.' }).exactOptional(),
  }),
);

const keys = z.array(scheduleKey).min(1).max(MAX_KEYS).meta({ description: 'Only for these keys of for_each.' });

export const ScheduleRunRequest = named('ScheduleRunRequest', strict({ keys: keys.exactOptional() }));

export const BackfillRequest = named(
  'BackfillRequest',
  strict({
    from: instant.meta({ description: 'Ticks from then on (included).' }),
    to: instant.meta({ description: 'Ticks before then; not later than now.' }),
    keys: keys.exactOptional(),
    dry_run: z.boolean().meta({ description: 'Tell what would run, and run nothing.' }).exactOptional(),
  }).refine(({ from, to }) => from < to, { path: ['to'], message: 'expected an instant after from' }),
);
export type BackfillRequestInput = z.input<typeof BackfillRequest>;
