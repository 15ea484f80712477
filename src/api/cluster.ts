/** The instances on a store and the duties that they perform. */

import { z } from 'zod';
import type { InstanceRow } from '../core/instance.ts';
import type { DutyState } from '../core/leadership.ts';
import { toInstant, wireInstant } from './fields.ts';
import { named } from './schemas.ts';

export const Instance = named(
  'Instance',
  z.object({
    id: z.string(),
    state: z.enum(['online', 'offline']).meta({ description: 'offline: no heartbeat for three intervals.' }),
    host: z.string(),
    pid: z.number(),
    roles: z.array(z.string()),
    version: z.string(),
    url: z.string().nullable().meta({ description: 'The address of its API; null if it has none.' }),
    leads: z.array(z.string()).meta({ description: 'The duties that it performs.' }),
    started_at: wireInstant,
    seen_at: wireInstant,
  }),
);
export type Instance = z.output<typeof Instance>;

export const DutyStatus = named(
  'DutyStatus',
  z.object({
    duty: z.string(),
    leader: z.string().nullable().meta({ description: 'The instance that performs the duty; null if none does.' }),
    term: z.number().meta({ description: 'Rises by one whenever an instance takes the duty.' }),
    expires_at: wireInstant.meta({ description: 'The end of the term, unless it is renewed.' }),
    held_by: z.enum(['lock', 'row']).nullable().meta({
      description:
        'lock: the leader also holds a session lock, so its death is noticed at once; row: only the row of the term.',
    }),
    lock_key: z
      .tuple([z.number(), z.number()])
      .nullable()
      .meta({ description: 'Both parts of the key of the advisory lock; null if the store has no such locks.' }),
  }),
);
export type DutyStatus = z.output<typeof DutyStatus>;

export const Cluster = named(
  'Cluster',
  z.object({
    driver: z.string(),
    location: z.string(),
    answered_by: z.string().meta({ description: 'The instance that answered.' }),
    instances: z.array(Instance),
    duties: z.array(DutyStatus),
  }),
);
export type Cluster = z.output<typeof Cluster>;

export function clusterToWire({
  instances,
  duties,
}: {
  instances: readonly InstanceRow[];
  duties: readonly DutyState[];
}): Pick<Cluster, 'instances' | 'duties'> {
  const statuses = duties.map(dutyToWire);
  return { instances: instances.map((instance) => instanceToWire(instance, statuses)), duties: statuses };
}

function instanceToWire(instance: InstanceRow, duties: readonly DutyStatus[]): Instance {
  const { id, state, host, pid, roles, version, url, startedAt, seenAt } = instance;
  return {
    id,
    state,
    host,
    pid,
    roles: [...roles],
    version,
    url,
    leads: duties.filter(({ leader }) => leader === id).map(({ duty }) => duty),
    started_at: toInstant(startedAt),
    seen_at: toInstant(seenAt),
  };
}

function dutyToWire({ duty, term, instanceId, expiresAt, over, locked, lockKey }: DutyState): DutyStatus {
  return {
    duty,
    leader: over ? null : instanceId,
    term,
    expires_at: toInstant(expiresAt),
    held_by: over ? null : locked ? 'lock' : 'row',
    lock_key: lockKey === null ? null : [...lockKey],
  };
}
