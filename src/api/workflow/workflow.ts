/** Workflows as they are submitted and read. */

import { z } from 'zod';
import { CONDITIONS } from '../../core/dag/conditions.ts';
import { WORKFLOW_STATUSES } from '../../core/dag/workflow-status.ts';
import { REASONS, STATUSES } from '../../core/job.ts';
import { idPageQuery, label, wireId, wireInstant } from '../fields.ts';
import { MAX_JOBS } from '../job-submission.ts';
import { NotifyList, NotifyView } from '../notify.ts';
import { named, pageOf, strict } from '../schemas.ts';
import { paramVariable, workflowKey } from './names.ts';
import { MAX_PARAM_LENGTH } from './params.ts';
import { WorkflowStep } from './step.ts';

const paramValue = z.union(
  [
    z.string().max(MAX_PARAM_LENGTH, `must have at most ${MAX_PARAM_LENGTH} characters`),
    z.number(),
    z.boolean(),
    z.array(z.unknown()).max(MAX_JOBS, `at most ${MAX_JOBS} items`),
  ],
  `expected text of at most ${MAX_PARAM_LENGTH} characters, a number, true or false, or a list`,
);

/** Two that would be one variable are refused, so that no command finds a value that it was not meant to. */
const params = z
  .record(workflowKey, paramValue)
  .refine((values) => Object.keys(values).length <= 1_000, 'at most 1000 parameters')
  .refine((values) => {
    const names = Object.keys(values);
    return new Set(names.map(paramVariable)).size === names.length;
  }, 'two parameters have the same variable: names differ by more than capitals, - and _')
  .meta({
    description: 'What the steps find as WORKRON_PARAM_<NAME>; lists are for readers only.',
    examples: [{ date: '2026-01-31' }],
  });

const submissionShape = {
  name: label(256).meta({ examples: ['nightly-report'] }),
  params: params.exactOptional(),
  notify: NotifyList.exactOptional(),
};

/** All that a submission says besides its steps, which may be many. */
export const WorkflowHead = strict({ ...submissionShape, steps: z.unknown().exactOptional() });
export type WorkflowHead = z.output<typeof WorkflowHead>;

export const WorkflowSubmission = named(
  'WorkflowSubmission',
  strict({ ...submissionShape, steps: z.array(WorkflowStep).min(1).max(MAX_JOBS) }),
);
export type WorkflowSubmissionInput = z.input<typeof WorkflowSubmission>;

const counts = {
  open: z.number().meta({ description: 'Not ended.' }),
  fine: z.number().meta({ description: 'Done, skipped, or failed where they may.' }),
  failed: z.number(),
  cancelled: z.number(),
};

const workflowShape = {
  id: wireId,
  name: z.string(),
  params: z.record(z.string(), z.unknown()),
  status: z.enum(WORKFLOW_STATUSES),
  created_at: wireInstant,
  started_at: wireInstant.nullable().meta({ description: 'When its first step started.' }),
  ended_at: wireInstant.nullable(),
  rerun_of: wireId.nullable().meta({ description: 'The workflow of which it repeats a part.' }),
  notify: NotifyView,
  step_counts: z.object({ total: z.number(), ...counts }),
};

export const Workflow = named('Workflow', z.object(workflowShape));
export type Workflow = z.output<typeof Workflow>;

export const WorkflowPage = named('WorkflowPage', pageOf(Workflow));
export type WorkflowPage = z.output<typeof WorkflowPage>;

export const StepState = named(
  'StepState',
  z.object({
    key: z.string(),
    job_id: wireId,
    name: z.string().nullable(),
    status: z.enum(STATUSES),
    depends_on: z.array(z.string()).meta({ description: 'Keys of its parents.' }),
    if: z.enum(CONDITIONS),
    continue_on_failure: z.boolean(),
    attempts: z.number(),
    failures: z.number(),
    max_attempts: z.number(),
    created_at: wireInstant,
    run_at: wireInstant,
    started_at: wireInstant.nullable(),
    done_at: wireInstant.nullable(),
    worker_id: wireId.nullable(),
    exit_code: z.number().nullable(),
    signal: z.string().nullable(),
    error: z.string().nullable(),
    reason: z.enum(REASONS).nullable(),
    rerun_of: wireId.nullable().meta({ description: 'The job whose end it kept, or that it repeats.' }),
    group: z
      .object({
        total: z.number().nullable().meta({ description: 'null until the list is known.' }),
        inserted: z.number(),
        max_parallel: z.number().nullable(),
        ...counts,
      })
      .nullable()
      .meta({ description: 'Of a for_each step: how far it is. GET /jobs?group_id= lists its items.' }),
  }),
);
export type StepState = z.output<typeof StepState>;

/** One workflow with its steps, parents before children. */
export const WorkflowDetail = named(
  'WorkflowDetail',
  z.object({
    ...workflowShape,
    steps: z.array(StepState),
    critical_path: z
      .array(z.string())
      .meta({ description: 'Keys of the steps that decided how long it took, first to last.' }),
  }),
);
export type WorkflowDetail = z.output<typeof WorkflowDetail>;

export const WorkflowListQuery = strict({
  status: z.enum(WORKFLOW_STATUSES).exactOptional(),
  name: label(256).exactOptional(),
  ...idPageQuery,
});

export const RerunRequest = named(
  'RerunRequest',
  strict({
    from: workflowKey.meta({ description: 'The step to begin with.', examples: ['deploy'] }),
    only: z.boolean().meta({ description: 'Not what comes after it. false by default.' }).exactOptional(),
  }),
);
export type RerunRequestInput = z.input<typeof RerunRequest>;
