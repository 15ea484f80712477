/** Brings ends and reopenings of jobs to their children, by the rules of core/dag/propagate.ts. */

import type { Condition, EdgeState } from '../../../core/dag/conditions.ts';
import { addCounters, type EdgeCounters, openEdges } from '../../../core/dag/edge-counters.ts';
import type { JudgeMode } from '../../../core/dag/judge.ts';
import {
  type CascadeMode,
  type ChildJob,
  type ChildUpdate,
  isRevival,
  type Link,
  parentFor,
  propagate,
} from '../../../core/dag/propagate.ts';
import type { Counters, Status, TerminalStatus } from '../../../core/job.ts';
import { isStep } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { endWaiting } from '../jobs/end-waiting.ts';
import { free } from '../jobs/free.ts';
import { revive } from '../jobs/revive.ts';
import { edgeSumOf } from './edges.ts';

/**
 * Updates the direct children of these jobs, but for those in `done`, which propagate-success.ts has updated. Children that
 * end or are reopened by it are left to the cascade.
 */
export function propagateFrom(
  context: Context,
  parents: ReadonlyMap<number, CascadeMode>,
  done: ReadonlySet<number> = new Set(),
): void {
  const { database } = context;
  database.run(sql.dropCascade, JSON.stringify([...parents.keys()]));
  const { moves, updates } = propagate(linksFrom(context, parents, done));
  for (const { edge, to } of moves) database.run(sql.setEdge, edge.childId, edge.parentId, to);
  for (const update of updates) writeUpdate(context, update);
}

interface Edge {
  parentId: number;
  childId: number;
  condition: Condition;
  state: EdgeState;
}

type ParentRow = readonly [jobId: number, isLive: number, end: TerminalStatus | null, continueOnFailure: number];

type EdgeRow = readonly [
  parentId: number,
  childId: number,
  condition: Condition,
  state: EdgeState,
  /** `null`, as all that follows: the child has ended. */
  status: Status | null,
  flags: number,
  dueAt: number,
  hasStarted: number,
  open: number,
  held: number,
  broken: number,
  missed: number,
];

/** Parents whose edges are read at once. */
const PIECE = 100;

function* linksFrom(
  context: Context,
  parents: ReadonlyMap<number, CascadeMode>,
  done: ReadonlySet<number>,
): Generator<Link<Child, Edge>> {
  const { database } = context;
  const ids = [...parents.keys()];
  const children = new Map<number, Child>();
  for (let start = 0; start < ids.length; start += PIECE) {
    const piece = JSON.stringify(ids.slice(start, start + PIECE));
    const states = new Map(
      database.tuples<ParentRow>(sql.parentStates, piece).map(([jobId, isLive, end, continues]) => {
        const mode = parents.get(jobId) as CascadeMode;
        return [jobId, parentFor(isLive ? null : end, continues === 1, mode)];
      }),
    );
    for (const row of database.tuples<EdgeRow>(sql.edgesFrom, piece)) {
      const [parentId, childId, condition, state, childStatus] = row;
      const parent = states.get(parentId);
      if (parent === undefined || done.has(childId)) continue;
      let child = children.get(childId);
      if (child === undefined) {
        child = childStatus === null ? new EndedChild(context, childId) : new LiveChild(row);
        children.set(childId, child);
      }
      yield { parent, edge: { parentId, childId, condition, state }, child };
    }
  }
}

type Child = LiveChild | EndedChild;

class LiveChild implements ChildJob {
  readonly ended = false;
  readonly jobId: number;
  readonly status: Status;
  readonly flags: number;
  readonly dueAt: number;
  readonly started: boolean;
  readonly counters: EdgeCounters;
  readonly mode: JudgeMode;

  constructor([, jobId, , , status, flags, dueAt, hasStarted, open, held, broken, missed]: EdgeRow) {
    this.jobId = jobId;
    this.status = status as Status;
    this.flags = flags;
    this.dueAt = dueAt;
    this.started = hasStarted === 1;
    this.counters = { open, held, broken, missed };
    this.mode = isStep(flags) ? 'together' : 'each';
  }
}

interface FinalRow extends Counters {
  status: TerminalStatus;
  due: number;
  started: number;
  is_step: number;
}

/** Read only where it may be reopened: most ends below an ended job change nothing but an edge. */
class EndedChild implements ChildJob {
  readonly ended = true;
  readonly jobId: number;
  readonly #context: Context;
  #final: FinalRow | undefined;

  constructor(context: Context, jobId: number) {
    this.#context = context;
    this.jobId = jobId;
  }

  get final(): FinalRow {
    this.#final ??= this.#context.database.get<FinalRow>(sql.finalRun, this.jobId);
    if (this.#final === undefined) throw new Error(`the final row of job ${this.jobId} is missing`);
    return this.#final;
  }

  get status(): Status {
    return this.final.status;
  }

  get started(): boolean {
    return this.final.started === 1;
  }

  get counters(): EdgeCounters {
    return edgeSumOf(this.#context, this.jobId) ?? openEdges(0);
  }

  get mode(): JudgeMode {
    return this.final.is_step === 1 ? 'together' : 'each';
  }
}

function writeUpdate(context: Context, update: ChildUpdate<Child>): void {
  const { child, change, fate } = update;
  const { database, effects } = context;
  const { jobId } = child;
  if (fate.kind === 'reason') database.run(sql.setSkipReason, jobId, fate.reason);
  else if (child instanceof EndedChild) {
    if (isRevival(update)) reviveChild(context, child, fate.kind === 'free');
  } else if (fate.kind === 'end') {
    endWaiting(context, child, fate);
    effects.endedByGraph(jobId);
  } else {
    const counters = addCounters(child.counters, change, 1);
    const { flags, dueAt } = child;
    if (fate.kind === 'free') return free(context, { jobId, flags, dueAt, counters });
    const { open, held, broken, missed } = counters;
    database.run(sql.setCounters, jobId, open, held, broken, missed);
    if (fate.kind === 'keep') return;
    database.run(sql.blockJob, jobId);
    effects.changedJob(jobId);
  }
}

/** A child that ended without having started waits for its parents again, or is free. */
function reviveChild(context: Context, child: EndedChild, isFree: boolean): void {
  const { database, effects, graphUpdate } = context;
  const { jobId, final } = child;
  database.run(sql.dropRun, jobId, 0);
  const again = { status: 'blocked', dueAt: final.due, attempt: 0, workerId: null, startedAt: null } as const;
  const { flags, edges } = revive(context, jobId, { ...again, counters: final });
  graphUpdate.reopenedByCascade(context, { jobId, flags, status: final.status });
  if (isFree) free(context, { jobId, flags, dueAt: final.due, counters: edges });
  effects.changedJob(jobId);
}
