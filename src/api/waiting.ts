/** What a job waits for, as data. words/waiting.ts has the sentences. */

import { z } from 'zod';
import { STEP_KINDS } from '../core/durable.ts';
import { STATUSES } from '../core/job.ts';
import { wireId, wireInstant } from './fields.ts';
import { named } from './schemas.ts';

const count = z.number();
const queue = z.string();
const resources = z.record(z.string(), count);
const worker = z.object({ id: wireId, name: z.string() });
const ahead = count.meta({ description: 'How many jobs start before it; 10000 stands for that many or more.' });
const startsAt = wireInstant
  .nullable()
  .meta({ description: 'When it is expected to start; null if that is not known.' });
const kept = count.meta({ description: 'How many of the next starts are kept for gangs.' });
const size = count.meta({ description: 'The members of its gang.' });
const needed = count.meta({ description: 'How many members of its gang have to start at once.' });

function wait<C extends string, S extends z.core.$ZodLooseShape>(code: C, shape: S) {
  return z.object({ code: z.literal(code), ...shape });
}

export const Waiting = named(
  'Waiting',
  z.discriminatedUnion('code', [
    wait('start_time', { at: wireInstant }),
    wait('retry', { at: wireInstant, failures: count, max_attempts: count }),
    wait('steps', {
      since: wireInstant,
      at: wireInstant,
      waits: z.array(
        z.object({ name: z.string(), kind: z.enum(STEP_KINDS), until: wireInstant.nullable(), tries: count }),
      ),
    }),
    wait('parent', { job: wireId, name: z.string().nullable(), status: z.enum(STATUSES), others: count }),
    wait('parents_ended', {}),
    wait('stop', { for_gang: z.boolean() }),
    wait('paused', { queue }),
    wait('worker', {
      lacks: z.enum(['worker', 'queue', 'commands', 'handler', 'tag', 'resources', 'all']),
      what: z.string().nullable().meta({ description: 'The queue, handler or tag that no online worker has.' }),
      resources,
      most: resources.meta({ description: 'The most that one online worker has of each.' }),
    }),
    wait('slot', {
      queue,
      ahead,
      worker: worker
        .extend({ running: count, slots: count, is_free: z.boolean() })
        .nullable()
        .meta({ description: 'One of the workers that could run it.' }),
      others: count.meta({ description: 'How many more workers could run it.' }),
    }),
    wait('resources', {
      queue,
      ahead,
      resources,
      short: worker.extend({ resource: z.string(), free: count, total: count }).nullable().meta({
        description: 'The worker that has the most of what is in use; null if jobs before it take what is free.',
      }),
      reserved: worker
        .extend({ for_job: wireId, starts_at: startsAt })
        .nullable()
        .meta({ description: 'What becomes free on this worker is reserved for this job, or for another.' }),
    }),
    wait('max_running', { queue, running: count, max: count, kept, ahead, starts_at: startsAt }),
    wait('limit', { key: z.string(), running: count, max: count, ahead, starts_at: startsAt }),
    wait('rate', {
      key: z.string().nullable().meta({ description: 'null for the rate of the queue.' }),
      queue,
      started: count,
      max: count,
      per: count.meta({ description: 'Milliseconds.' }),
      opens_at: wireInstant,
      kept,
      ahead,
      starts_at: startsAt,
    }),
    wait('rate_kept', { queue, left: count, ahead }),
    wait('gang_succeeded', { succeeded: count, size }),
    wait('gang_started', { members: count, size }),
    wait('gang_stopping', {}),
    wait('gang_earlier', { members: count, size }),
    wait('gang_incomplete', { waiting: count, size, has_ended: z.boolean() }),
    wait('gang_start', {}),
    wait('gang_places', { held: count, members: count, worker }),
    wait('gang_max_running', { queue, max: count, needed }),
    wait('gang_rate', { queue, max: count, needed }),
    wait('gang_room', { waiting: count, size, min: count, free: count, idle: count, needed }),
    wait('gang_queue_full', { queue, running: count, max: count, needed }),
    wait('gang_rate_left', { queue, left: count, needed, starts_at: startsAt }),
  ]),
);
export type Waiting = z.output<typeof Waiting>;
