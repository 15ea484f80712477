/** One step of a workflow: a job with a key, its dependencies by key, and for_each. */

import { z } from 'zod';
import { CONDITIONS } from '../../core/dag/conditions.ts';
import { wholeNumber } from '../fields.ts';
import { coherentGang, type GangSubmission } from '../gang.ts';
import { JobSubmission, MAX_JOBS } from '../job-submission.ts';
import { named, strict } from '../schemas.ts';
import { workflowKey } from './names.ts';

const {
  command,
  handler,
  input,
  name,
  run_at: _runAt,
  unique: _unique,
  depends_on: _dependsOn,
  max_retries: _retries,
  gang,
  ...settings
} = JobSubmission.shape;

/** The fields that a workflow file may set for all of its steps: those that do not say what the job does. */
export const stepDefaultsShape = settings;

const OUTPUT = /^[A-Za-z_][A-Za-z0-9_-]{0,127}(\..+)?$/s;
const outputOf = z
  .string('expected a step and a key of its result: "extract.files"')
  .max(1_024)
  .regex(OUTPUT, 'expected a step and a key of its result: "extract.files"')
  .meta({
    description:
      'The result of a parent: "extract.files" is the list under "files" in the result of the step "extract"; "extract" alone is its whole result.',
    examples: ['extract.files'],
  });

const items = z.array(z.unknown()).max(MAX_JOBS, `at most ${MAX_JOBS} items`);

/** A list, or the result of a parent that contains it. */
const ForEach = z.union([items, strict({ output: outputOf })]);

/** In a file the list may also be a parameter. */
export const FileForEach = z
  .union([
    items,
    strict({ param: workflowKey.exactOptional(), output: outputOf.exactOptional() }).refine(
      (source) => (source.param === undefined) !== (source.output === undefined),
      'expected exactly one of param and output',
    ),
  ])
  .meta({ description: 'Runs the step once for each item: a list, {param: NAME} or {output: STEP.KEY}.' });
export type FileForEach = z.output<typeof FileForEach>;

const dependsOn = z.array(workflowKey).max(MAX_JOBS);

/** The fields of a step apart from its key and `for_each`. */
const commonShape = {
  command,
  handler,
  input,
  name,
  depends_on: z
    .union([workflowKey, dependsOn])
    .meta({ description: 'Keys of the steps that must end first.', examples: [['extract']] })
    .exactOptional(),
  if: z
    .enum(CONDITIONS)
    .meta({
      description:
        'When to run, once all parents have ended: success (all succeeded, the default), failure (at least one failed), ended (always).',
    })
    .exactOptional(),
  max_parallel: wholeNumber(1, MAX_JOBS)
    .meta({ description: 'With for_each: the number of items that run at once.' })
    .exactOptional(),
  gang,
  continue_on_failure: z
    .boolean()
    .meta({ description: 'The failure of this step counts as success for its children and for the workflow.' })
    .exactOptional(),
  ...settings,
};

interface StepFields {
  command?: string;
  handler?: string;
  input?: unknown;
  for_each?: unknown;
  max_parallel?: number;
  gang?: GangSubmission;
  limits?: unknown;
  rates?: unknown;
  max_attempts?: number;
  rerun?: string;
}

/** Adds the rules about fields that depend on each other. */
function coherent<S extends z.ZodType<StepFields>>(schema: S) {
  return coherentGang(schema)
    .refine((step) => step.gang === undefined || step.for_each === undefined, {
      path: ['gang'],
      message: 'a step is a gang, or has for_each',
    })
    .refine((step) => step.gang?.fail_fast === undefined, {
      path: ['gang', 'fail_fast'],
      message: 'a step is not submitted by itself: it waits until there is room',
    })
    .refine(
      (step) => (step.command === undefined) !== (step.handler === undefined),
      'expected exactly one of command and handler',
    )
    .refine((step) => step.input === undefined || step.handler !== undefined, {
      path: ['input'],
      message: 'input goes to a handler; a command gets its values by env',
    })
    .refine((step) => step.max_parallel === undefined || step.for_each !== undefined, {
      path: ['max_parallel'],
      message: 'max_parallel needs for_each',
    })
    .meta({ oneOf: [{ required: ['command'] }, { required: ['handler'] }] });
}

/** A step as it is submitted. */
export const WorkflowStep = named(
  'WorkflowStep',
  coherent(strict({ key: workflowKey, ...commonShape, for_each: ForEach.exactOptional() })),
);
export type WorkflowStep = z.output<typeof WorkflowStep>;

/** A step in a list of steps in a file. */
export const ListedStep = coherent(strict({ key: workflowKey, ...commonShape, for_each: FileForEach.exactOptional() }));

/** A step in a map of steps in a file, whose key is that of the map. */
export const MappedStep = coherent(strict({ ...commonShape, for_each: FileForEach.exactOptional() }));
export type MappedStep = z.output<typeof MappedStep>;

/** Splits `extract.files` into step and key; the key is `null` if the whole result is meant. */
export function splitOutput(output: string): { step: string; key: string | null } {
  const dot = output.indexOf('.');
  return dot < 0 ? { step: output, key: null } : { step: output.slice(0, dot), key: output.slice(dot + 1) };
}
