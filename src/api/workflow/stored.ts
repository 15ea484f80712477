/** Workflow definitions that are stored by name and version, as they are applied, read and run. */

import { z } from 'zod';
import { WORKFLOW_STATUSES } from '../../core/dag/workflow-status.ts';
import { SCHEDULE_NAME } from '../../core/schedule/schedule.ts';
import { numberInQuery, pageQuery, wholeNumber, wireId, wireInstant, wireQueues } from '../fields.ts';
import { named, pageOf, strict } from '../schemas.ts';
import { workflowKey } from './names.ts';
import { PARAM_TYPES } from './params.ts';
import { params } from './workflow.ts';

const definitionName = z
  .string()
  .regex(SCHEDULE_NAME, 'expected a name of a-z, 0-9, ".", "_" and "-", at most 128 long')
  .refine((name) => name !== '.' && name !== '..', 'expected a name that is not "." or ".."')
  .meta({ examples: ['nightly-report'] });

const MAX_SOURCE_LENGTH = 4 * 1024 * 1024;
const version = wholeNumber(1, 2_147_483_647);

export const DefinitionApply = named(
  'DefinitionApply',
  strict({
    source: z
      .string()
      .max(MAX_SOURCE_LENGTH, `must have at most ${MAX_SOURCE_LENGTH} characters`)
      .meta({
        description: 'The workflow file, in YAML or JSON. Its name is the name in the path.',
        examples: ['name: nightly-report\nsteps:\n  hello: {command: echo hello}\n'],
      }),
    dry_run: z.boolean().meta({ description: 'Only say whether it would change something.' }).exactOptional(),
  }),
);
export type DefinitionApplyInput = z.input<typeof DefinitionApply>;

const definitionShape = {
  name: z.string(),
  version: z.number(),
  description: z.string().nullable(),
  params: z
    .array(
      z.object({
        name: z.string(),
        type: z.enum(PARAM_TYPES),
        required: z.boolean(),
        default: z.unknown().meta({ description: 'null if there is none.' }),
        enum: z.array(z.unknown()).nullable().meta({ description: 'The allowed values; null: any.' }),
        description: z.string().nullable(),
      }),
    )
    .meta({ description: 'What a run may set, and must where it is required.' }),
  steps: z.array(z.object({ key: z.string(), depends_on: z.array(z.string()) })),
  queues: wireQueues,
  created_at: wireInstant.meta({ description: 'When this version was applied.' }),
};

export const Definition = named('Definition', z.object(definitionShape));
export type Definition = z.output<typeof Definition>;

export const AppliedDefinition = named(
  'AppliedDefinition',
  z.object({
    ...definitionShape,
    changed: z.boolean().meta({ description: 'False if the latest version was the same already.' }),
    dry_run: z.boolean(),
  }),
);
export type AppliedDefinition = z.output<typeof AppliedDefinition>;

export const DefinitionPage = named('DefinitionPage', pageOf(Definition));
export type DefinitionPage = z.output<typeof DefinitionPage>;

export const DefinitionDetail = named(
  'DefinitionDetail',
  z.object({
    ...definitionShape,
    versions: z
      .array(z.object({ version: z.number(), created_at: wireInstant }))
      .meta({ description: 'Newest first, at most 100.' }),
    schedules: z.array(z.string()).meta({ description: 'The schedules that use it.' }),
    recent: z
      .object({
        done: z.number(),
        failed: z.number(),
        cancelled: z.number(),
        success_rate: z
          .number()
          .nullable()
          .meta({ description: 'Done ones among the ended ones; null if none has ended.' }),
        median: z.number().nullable().meta({ description: 'Milliseconds that half of the done ones took at most.' }),
        runs: z
          .array(
            z.object({
              id: wireId,
              version: z.number(),
              status: z.enum(WORKFLOW_STATUSES),
              created_at: wireInstant,
              duration: z.number().nullable().meta({ description: 'Milliseconds; null until it has ended.' }),
            }),
          )
          .meta({ description: 'Newest first.' }),
      })
      .meta({ description: 'The newest 50 runs. GET /workflows?definition= has all of them.' }),
  }),
);
export type DefinitionDetail = z.output<typeof DefinitionDetail>;

export const DefinitionSource = named(
  'DefinitionSource',
  z.object({ name: z.string(), version: z.number(), source: z.string() }),
);
export type DefinitionSource = z.output<typeof DefinitionSource>;

export const DefinitionListQuery = strict({ ...pageQuery({ maxCursorLength: 1_024, example: 'YWZ0ZXI6YQ' }) });

export const DefinitionQuery = strict({
  version: numberInQuery(1, 2_147_483_647).meta({ description: 'The latest by default.' }).exactOptional(),
});

/** Values by parameter. Text is read as the type of the parameter. */
const givenParams = params.meta({
  description: 'Values by parameter. Text is read as the type of the parameter.',
  examples: [{}],
});

export const DefinitionRun = named(
  'DefinitionRun',
  strict({
    version: version.meta({ description: 'The latest by default.', examples: [1] }).exactOptional(),
    params: givenParams.exactOptional(),
  }),
);
export type DefinitionRunInput = z.input<typeof DefinitionRun>;

/** What a schedule runs of a definition. */
export const ScheduledDefinition = named(
  'ScheduledDefinition',
  strict({
    name: definitionName,
    version: z
      .union([version, z.literal('latest')], 'expected the number of a version, or latest')
      .meta({ description: 'latest, the default, follows each new version.' })
      .exactOptional(),
    params: z
      .record(workflowKey, z.unknown())
      .meta({ examples: [{}] })
      .exactOptional(),
  }),
);
export type ScheduledDefinition = z.output<typeof ScheduledDefinition>;
