/** Gangs on the wire. */

import { z } from 'zod';
import { type Gang as DomainGang, gangTag, ON_MEMBER_FAILURE, SPREADS } from '../core/gang.ts';
import type { NewJob } from '../core/job.ts';
import { laneOf } from '../core/lane.ts';
import { fitsIdle } from '../core/place-gangs.ts';
import type { WorkerRow } from '../core/worker.ts';
import { invalid } from './decode.ts';
import { duration, wholeNumber } from './fields.ts';
import { named, strict } from './schemas.ts';

const MAX_SIZE = 1_000;
const DEFAULT_TIMEOUT_MS = 600_000;

export const GangSubmission = named(
  'GangSubmission',
  strict({
    size: wholeNumber(1, MAX_SIZE).meta({ description: 'The number of members: jobs that start together.' }),
    min: wholeNumber(1, MAX_SIZE).exactOptional().meta({
      description:
        'The least number of members to start with if not all fit. The others are left out, and skipped in the end. Default: size.',
    }),
    spread: z.enum(SPREADS).exactOptional().meta({
      description: 'pack (the default): on as few workers as possible; spread: on as many; same-worker: on one.',
    }),
    on_member_failure: z.enum(ON_MEMBER_FAILURE).exactOptional().meta({
      description:
        'restart (the default): the others are stopped, and all start again; fail: the others are cancelled; continue: they go on.',
    }),
    timeout: duration(1_000).exactOptional().meta({
      description: 'How long places are held that not all members have got. Then all are chosen again. Default: 10m.',
    }),
    fail_fast: z.boolean().exactOptional().meta({
      description: 'Refuse the submission if the workers that are online could not hold all members even when idle.',
    }),
  }).meta({
    description: 'Makes as many jobs of the submission, which all start, or none. They have the tag gang:ID.',
  }),
);
export type GangSubmission = z.output<typeof GangSubmission>;

export const Gang = named(
  'Gang',
  z.object({
    id: z.string(),
    rank: z.number(),
    size: z.number(),
    min: z.number(),
    spread: z.enum(SPREADS),
    on_member_failure: z.enum(ON_MEMBER_FAILURE),
    timeout: z.number().meta({ description: 'Milliseconds.' }),
  }),
);
type Gang = z.output<typeof Gang>;

export function gangToWire(gang: DomainGang | null): Gang | null {
  if (gang === null) return null;
  const { onMemberFailure, timeoutMs, ...same } = gang;
  return { ...same, on_member_failure: onMemberFailure, timeout: timeoutMs };
}

export function gangFromWire(gang: Gang | null): DomainGang | null {
  if (gang === null) return null;
  const { on_member_failure, timeout, ...same } = gang;
  return { ...same, onMemberFailure: on_member_failure, timeoutMs: timeout };
}

/** True if the gang starts again as a whole when a member does not succeed. */
function restartsWith({ on_member_failure }: GangSubmission): boolean {
  return on_member_failure === undefined || on_member_failure === 'restart';
}

/** The members of a gang. */
export function membersOf(job: NewJob, gang: GangSubmission, id: string): NewJob[] {
  const tags = [...job.tags, gangTag(id)];
  return Array.from({ length: gang.size }, (_, rank) => ({ ...memberOf(job, gang, { id, rank }), tags }));
}

/** A member of a gang. Unless all restart together, it is not tried again. */
export function memberOf(job: NewJob, gang: GangSubmission, { id, rank }: Pick<DomainGang, 'id' | 'rank'>): NewJob {
  const {
    size,
    min = size,
    spread = 'pack',
    on_member_failure: onMemberFailure = 'restart',
    timeout = DEFAULT_TIMEOUT_MS,
  } = gang;
  const maxAttempts = restartsWith(gang) ? job.maxAttempts : 1;
  return { ...job, maxAttempts, gang: { id, rank, size, min, spread, onMemberFailure, timeoutMs: timeout } };
}

/** Throws `bad_request` if the workers that are online have no places for the members of a gang, even when idle. */
export function requireRoom(members: readonly NewJob[], workers: readonly WorkerRow[], path: string): void {
  const [first] = members;
  if (first === undefined || first.gang === null) return;
  if (fitsIdle({ gang: first.gang, lane: laneOf(first), members }, workers)) return;
  const { size, min } = first.gang;
  const many = min < size ? `at least ${min} members of a gang` : `a gang of ${size}`;
  const detail = `all online workers together have no places for ${many}, even when idle`;
  throw invalid([{ pointer: `${path}/gang`, detail }]);
}

interface WithGang {
  gang?: GangSubmission;
  limits?: unknown;
  rates?: unknown;
  max_attempts?: number;
  max_retries?: number;
  start_timeout?: unknown;
  rerun?: string;
}

/** Adds the rules about fields that a gang does not go with. */
export function coherentGang<S extends z.ZodType<WithGang>>(schema: S) {
  return schema
    .refine(({ gang, limits, rates }) => gang === undefined || (limits === undefined && rates === undefined), {
      path: ['gang'],
      message: 'a gang cannot have limits or rates',
    })
    .refine(({ gang }) => gang?.min === undefined || gang.min <= gang.size, {
      path: ['gang', 'min'],
      message: 'expected at most the size of the gang',
    })
    .refine(({ gang }) => gang?.min === undefined || gang.on_member_failure !== 'continue', {
      path: ['gang', 'min'],
      message:
        'members that go on without each other keep rank and size when they are retried: expected no min with continue',
    })
    .refine(({ gang, start_timeout: timeout }) => gang?.min === undefined || timeout === undefined, {
      path: ['start_timeout'],
      message: 'a gang with min has no start_timeout: members that are left out do not start',
    })
    .refine(
      ({ gang, max_attempts: attempts, max_retries: retries }) =>
        gang === undefined || restartsWith(gang) || (attempts ?? retries ?? 1) === 1,
      { path: ['max_attempts'], message: 'only with on_member_failure restart is a gang tried again: expected 1' },
    )
    .refine(({ gang, rerun }) => gang === undefined || rerun !== 'never' || !restartsWith(gang), {
      path: ['rerun'],
      message: 'a gang that restarts runs its members again: expected gang.on_member_failure fail or continue',
    });
}
