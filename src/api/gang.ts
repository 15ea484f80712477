/** Gangs on the wire. */

import { z } from 'zod';
import { type Gang as DomainGang, gangTag, ON_MEMBER_FAILURE, SPREADS } from '../core/gang.ts';
import type { NewJob } from '../core/job.ts';
import { duration, wholeNumber } from './fields.ts';
import { named, strict } from './schemas.ts';

const MAX_SIZE = 1_000;
const DEFAULT_TIMEOUT_MS = 600_000;

export const GangSubmission = named(
  'GangSubmission',
  strict({
    size: wholeNumber(1, MAX_SIZE).meta({ description: 'The number of members: jobs that start together.' }),
    spread: z.enum(SPREADS).exactOptional().meta({
      description: 'pack (the default): on as few workers as possible; spread: on as many; same-worker: on one.',
    }),
    on_member_failure: z.enum(ON_MEMBER_FAILURE).exactOptional().meta({
      description: 'fail (the default): the others are cancelled; continue: they go on.',
    }),
    timeout: duration(1_000).exactOptional().meta({
      description: 'How long places are held that not all members have got. Then they are given anew. Default: 10m.',
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

/** The members of a gang. They are not tried again one by one. */
export function membersOf(job: NewJob, gang: GangSubmission, id: string): NewJob[] {
  const { size, spread = 'pack', on_member_failure: onMemberFailure = 'fail', timeout = DEFAULT_TIMEOUT_MS } = gang;
  const rules = { id, size, spread, onMemberFailure, timeoutMs: timeout };
  const member = { ...job, maxAttempts: 1, tags: [...job.tags, gangTag(id)] };
  return Array.from({ length: size }, (_, rank) => ({ ...member, gang: { ...rules, rank } }));
}
