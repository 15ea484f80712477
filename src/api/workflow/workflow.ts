/** Workflows as they are submitted and read. */

import { z } from 'zod';
import { CONDITIONS } from '../../core/dag/conditions.ts';
import { WORKFLOW_STATUSES } from '../../core/dag/workflow-status.ts';
import { REASONS, STATUSES } from '../../core/job.ts';
import { idPageQuery, label, wireId, wireInstant } from '../fields.ts';
import { MAX_JOBS } from '../job-submission.ts';
import { NotifyList, NotifyView } from '../notify.ts';
import { Progress } from '../report.ts';
import { named, pageOf, strict } from '../schemas.ts';
import { Failure } from '../thrown.ts';
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

/** Two parameters with the same variable are refused: one would hide the other. */
export const params = z
  .record(workflowKey, paramValue)
  .refine((values) => Object.keys(values).length <= 1_000, 'at most 1000 parameters')
  .refine((values) => {
    const names = Object.keys(values);
    return new Set(names.map(paramVariable)).size === names.length;
  }, 'two parameters have the same variable: names differ by more than capitals, - and _')
  .meta({
    description: 'Steps get them as WORKRON_PARAM_<NAME>, except lists, which are for readers only.',
    examples: [{ date: '2026-01-31' }],
  });

const submissionShape = {
  name: label(256).meta({ examples: ['nightly-report'] }),
  params: params.exactOptional(),
  notify: NotifyList.exactOptional(),
};

/** A submission without its steps, which are decoded one by one. */
export const WorkflowHead = strict({ ...submissionShape, steps: z.unknown().exactOptional() });
export type WorkflowHead = z.output<typeof WorkflowHead>;

export const WorkflowSubmission = named(
  'WorkflowSubmission',
  strict({ ...submissionShape, steps: z.array(WorkflowStep).min(1).max(MAX_JOBS) }),
);
export type WorkflowSubmissionInput = z.input<typeof WorkflowSubmission>;

const counts = {
  open: z.number().meta({ description: 'Steps that have not ended.' }),
  fine: z.number().meta({ description: 'Steps that are done, skipped, or failed with continue_on_failure.' }),
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
  rerun_of: wireId.nullable().meta({ description: 'The workflow that this one repeats in part.' }),
  definition: z
    .object({ name: z.string(), version: z.number() })
    .nullable()
    .meta({ description: 'The stored definition, and its version, that it was made from.' }),
  submitted_by: z.string().nullable().meta({ description: 'Who submitted it, such as the name of a token.' }),
  notify: NotifyView,
  step_counts: z.object({ total: z.number(), ...counts }),
};

export const Workflow = named('Workflow', z.object(workflowShape));
export type Workflow = z.output<typeof Workflow>;

export const ListedWorkflow = named(
  'ListedWorkflow',
  Workflow.extend({
    skipped_steps: z
      .number()
      .nullable()
      .meta({ description: 'How many of the fine steps were skipped; null if it has more than 1,000 steps.' }),
  }),
);
export type ListedWorkflow = z.output<typeof ListedWorkflow>;

export const WorkflowPage = named('WorkflowPage', pageOf(ListedWorkflow));
export type WorkflowPage = z.output<typeof WorkflowPage>;

export const StepState = named(
  'StepState',
  z.object({
    key: z.string(),
    job_id: wireId,
    name: z.string().nullable(),
    queue: z.string(),
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
    failure: Failure.nullable(),
    reason: z.enum(REASONS).nullable(),
    rerun_of: wireId.nullable().meta({ description: 'The job whose result it keeps, or that it repeats.' }),
    progress: Progress.nullable(),
    group: z
      .object({
        total: z.number().nullable().meta({ description: 'null until the list is known.' }),
        inserted: z.number(),
        max_parallel: z.number().nullable(),
        ...counts,
      })
      .nullable()
      .meta({ description: 'For a for_each step: its progress. The list of jobs with group_id has its items.' }),
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
      .meta({ description: 'Keys of the steps that determined how long the workflow took, first to last.' }),
  }),
);
export type WorkflowDetail = z.output<typeof WorkflowDetail>;

export const WorkflowListQuery = strict({
  status: z.enum(WORKFLOW_STATUSES).exactOptional(),
  name: label(256).exactOptional(),
  definition: label(128).meta({ description: 'Runs of this stored definition.' }).exactOptional(),
  ...idPageQuery,
});

export const RerunRequest = named(
  'RerunRequest',
  strict({
    from: workflowKey.meta({ description: 'The key of the first step to run again.', examples: ['deploy'] }),
    only: z
      .boolean()
      .meta({ description: 'Run only this step, not its descendants. false by default.' })
      .exactOptional(),
  }),
);
export type RerunRequestInput = z.input<typeof RerunRequest>;
