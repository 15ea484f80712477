import { openEdges } from '../../../core/dag/edge-counters.ts';
import type { JobSpec } from '../../../core/job.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';
import type { Entry, Origin } from '../base/entry.ts';
import { putBack, type Tables } from '../base/tables.ts';
import type { Group } from '../graph/groups.ts';
import { noticeFairKey } from './turns.ts';

interface NewEntry {
  spec: JobSpec;
  dueAt: number;
  uniqueKey?: string | null;
  origin?: Partial<Origin>;
  group?: Group | null;
  item?: unknown;
}

/** A new job, blocked until its dependencies are judged. */
export function addEntry(tables: Tables, { spec, dueAt, uniqueKey, origin, group, item }: NewEntry): Entry {
  const entry: Entry = {
    id: (tables.lastId.job += 1),
    createdAt: tables.clock.now(),
    spec,
    lane: laneKey(laneOf(spec)),
    status: 'blocked',
    dueAt,
    turn: 0,
    turnKey: null,
    parkedIn: null,
    attempt: 0,
    counters: { failures: 0, interruptions: 0, snoozes: 0, losses: 0 },
    workerId: null,
    startedAt: null,
    claimSeq: null,
    renewedAt: null,
    cancelRequestedAt: null,
    gangStop: false,
    keepChildren: false,
    expiresAt: null,
    doneAt: null,
    reason: null,
    end: null,
    result: null,
    progress: null,
    checkpoint: null,
    uploads: new Map(),
    uniqueKey: uniqueKey ?? null,
    uniqueAfter: null,
    workflowId: origin?.workflowId ?? null,
    stepKey: origin?.stepKey ?? null,
    groupId: origin?.groupId ?? null,
    groupIndex: origin?.groupIndex ?? null,
    rerunOf: origin?.rerunOf ?? null,
    parents: new Map(),
    edges: openEdges(0),
    children: new Map(),
    group: group ?? null,
    item: item ?? null,
    attempts: [],
    logs: new Map(),
  };
  noticeFairKey(tables, spec);
  tables.jobs.set(entry.id, entry);
  if (entry.workflowId !== null) tables.workflows.get(entry.workflowId)?.jobs.add(entry);
  putBack(tables, entry);
  return entry;
}
