/** The steps of durable functions, as workers write them and as they are read. */

import { z } from 'zod';
import {
  type StepsPage as DomainPage,
  type Step as DomainStep,
  MAX_STEP_NAME_LENGTH,
  MAX_STEPS,
  STEP_KINDS,
  type StepWrite,
  type StepWritten,
} from '../core/durable.ts';
import type { Thrown } from '../core/outcome.ts';
import { cleanJson, cleanText } from '../core/text.ts';
import {
  duration,
  instant,
  label,
  numberInQuery,
  parseInstant,
  storeId,
  toInstant,
  wholeNumber,
  wireInstant,
} from './fields.ts';
import { attemptNumber } from './heartbeat.ts';
import { itemsOf, named } from './schemas.ts';
import { ThrownError } from './thrown.ts';

const MAX_WRITES = 100;
const stepName = label(MAX_STEP_NAME_LENGTH);
const seq = wholeNumber(0, 2 ** 31 - 1);

export const Step = named(
  'Step',
  z.object({
    name: z.string().meta({ description: 'A text, or the JSON of a list, such as ["page",3].' }),
    kind: z.enum(STEP_KINDS),
    seq: z.number().meta({ description: 'Rises with each write. A step that ended later has a higher one.' }),
    attempt: z.number().meta({ description: 'The attempt that wrote it last.' }),
    tries: z.number().meta({ description: 'The tries of a step that failed.' }),
    started_at: wireInstant,
    ended_at: wireInstant.nullable().meta({ description: 'null while the job waits for it.' }),
    until: wireInstant.nullable().meta({ description: 'When a sleep is over, or a step is tried again.' }),
    result: z.unknown().optional().meta({ description: 'Absent if there is none, or it is encrypted.' }),
    thrown: ThrownError.nullable().meta({ description: 'The error of a step that has failed for good.' }),
  }),
);
export type Step = z.output<typeof Step>;

export const StepPage = named(
  'StepPage',
  itemsOf(Step).extend({ next: z.number().nullable().meta({ description: 'Pass as after to read on.' }) }),
);

export const StepQuery = z.object({ after: numberInQuery(0, 2 ** 31 - 1).exactOptional() });

/** Kept by its worker: not JSON of the API, but of a function. */
const result = z.unknown().transform((value) => cleanJson(value));

const write = z.object({
  job_id: storeId,
  attempt: attemptNumber,
  name: stepName,
  kind: z.enum(STEP_KINDS),
  tries: wholeNumber(0, 10_000).default(0),
  took: duration().default(0).meta({ description: 'How long ago it began.' }),
  wait: duration().exactOptional().meta({ description: 'The step is not over: it is, or is tried again, after this.' }),
  until: instant.exactOptional().meta({ description: 'The same as an instant.' }),
  result: result.optional(),
  thrown: ThrownError.transform((value) => cleanJson(value) as Thrown).exactOptional(),
  seal: z.boolean().default(false).meta({ description: 'The result is stored encrypted.' }),
});

export const StepsRequest = named(
  'StepsRequest',
  z.object({
    items: z.array(write).max(MAX_WRITES).default([]),
    unused: z
      .object({ job_id: storeId, attempt: attemptNumber, names: z.array(stepName).max(MAX_STEPS) })
      .exactOptional()
      .meta({ description: 'Names of steps that the function did not ask for before it returned.' }),
    read: z
      .object({ job_id: storeId, attempt: attemptNumber, after: seq.default(0) })
      .exactOptional()
      .meta({ description: 'Reads more steps than the claim has brought.' }),
  }),
);
export type StepsRequest = z.output<typeof StepsRequest>;

export const StepsAnswer = named(
  'StepsAnswer',
  itemsOf(
    z.object({
      step: Step.exactOptional(),
      refused: z.enum(['lease_lost', 'changed', 'too_many', 'too_large']).exactOptional(),
    }),
  ).extend({ read: StepPage.exactOptional() }),
);
export type StepsAnswer = z.output<typeof StepsAnswer>;

export function stepToWire({ result: text, thrown, ...step }: DomainStep): Step {
  return {
    name: step.name,
    kind: step.kind,
    seq: step.seq,
    attempt: step.attempt,
    tries: step.tries,
    started_at: toInstant(step.startedAt),
    ended_at: step.endedAt === null ? null : toInstant(step.endedAt),
    until: step.until === null ? null : toInstant(step.until),
    ...(text === null ? {} : { result: JSON.parse(text) as unknown }),
    thrown,
  };
}

export function stepFromWire(wire: Step): DomainStep {
  const at = (value: string | null) => (value === null ? null : (parseInstant(value) ?? 0));
  const { name, kind, seq, attempt, tries } = wire;
  return {
    name,
    kind,
    seq,
    attempt,
    tries,
    startedAt: at(wire.started_at) ?? 0,
    endedAt: at(wire.ended_at),
    until: at(wire.until),
    result: wire.result === undefined ? null : JSON.stringify(wire.result),
    thrown: wire.thrown as Thrown | null,
  };
}

export function stepsToWire({ steps, next }: DomainPage): z.output<typeof StepPage> {
  return { items: steps.map(stepToWire), next };
}

export function stepsFromWire({ items, next }: z.output<typeof StepPage>): DomainPage {
  return { steps: items.map(stepFromWire), next };
}

export function writesFromWire({ items }: StepsRequest, workerId: number): StepWrite[] {
  return items.map(({ job_id: jobId, took: tookMs, wait, until, result, thrown = null, ...rest }) => ({
    ...rest,
    name: cleanText(rest.name),
    jobId,
    workerId,
    tookMs,
    wait: until !== undefined ? { at: until } : wait !== undefined ? { ms: wait } : null,
    result: result === undefined ? null : JSON.stringify(result),
    thrown,
  }));
}

export function writeToWire(write: StepWrite) {
  const { jobId, tookMs, wait, result, thrown, workerId: _, ...rest } = write;
  return {
    ...rest,
    job_id: String(jobId),
    took: Math.round(tookMs),
    ...(wait === null ? {} : 'at' in wait ? { until: toInstant(wait.at) } : { wait: Math.round(wait.ms) }),
    ...(result === null ? {} : { result: JSON.parse(result) as unknown }),
    ...(thrown === null ? {} : { thrown }),
  };
}

export function writtenToWire(written: StepWritten): StepsAnswer['items'][number] {
  return 'step' in written ? { step: stepToWire(written.step) } : written;
}

export function writtenFromWire({ step, refused }: StepsAnswer['items'][number]): StepWritten {
  return step === undefined ? { refused: refused ?? 'lease_lost' } : { step: stepFromWire(step) };
}
