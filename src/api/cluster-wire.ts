/** Instances and duties on their way to the wire. */

import type { Cluster, DutyStatus, Instance } from './cluster.ts';
import { toInstant } from './fields.ts';
import type { ClusterView, DutyState, InstanceRow } from '../scheduler/scheduler.ts';

export function clusterToWire({ instances, duties }: ClusterView): Pick<Cluster, 'instances' | 'duties'> {
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
