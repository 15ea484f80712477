import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONDITIONS, type EdgeState } from '../../../src/core/dag/conditions.ts';
import { openEdges } from '../../../src/core/dag/edge-counters.ts';
import { parentFor, propagate } from '../../../src/core/dag/propagate.ts';
import { TERMINAL_STATUSES } from '../../../src/core/job.ts';
import { queueCascade } from '../../../src/store/engine/graph/cascade.ts';
import type { Columns } from '../../../src/store/sql/columns.ts';
import { type Fragment, postgresRenderer } from '../../../src/store/sql/sql.ts';
import { openTestPostgres } from '../../kit/postgres.ts';

const EDGE_STATES: readonly EdgeState[] = ['open', 'held', 'impossible'];
const CHILDREN = ['waits', 'waits, has started', 'ended', 'ended, has started'] as const;

/** Every edge that there can be: a parent and a child of its own for each. */
const CASES = [null, ...TERMINAL_STATUSES]
  .flatMap((end) => [true, false].map((continueOnFailure) => ({ end, continueOnFailure })))
  .flatMap((parent) => CHILDREN.map((child) => ({ ...parent, child })))
  .flatMap((ends) => CONDITIONS.map((condition) => ({ ...ends, condition })))
  .flatMap((edge) => EDGE_STATES.map((state) => ({ ...edge, state })))
  .map((edge, place) => ({ ...edge, parentId: 1 + 2 * place, childId: 2 + 2 * place }));

test('postgres: the cascade finds the edges that the rules of core move, and no others', async () => {
  await using given = await openTestPostgres();
  const s = `"${given.schema}"`;
  const insert = (table: string, rows: readonly object[]) =>
    given.query(
      `insert into ${s}.${table} select r.* from jsonb_array_elements($1::jsonb) i,
        jsonb_populate_record(null::${s}.${table}, i) r`,
      [JSON.stringify(rows)],
    );
  const created = { created_at: '2026-01-01', queue: 'default', kind: 'command', priority: 0, tags: [] };
  const live = {
    lane: 0,
    rank: 0,
    turn: 0,
    due: '2026-01-01',
    listed_as: 'blocked',
    claimed: false,
    attempt: 0,
    flags: 0,
  };
  const run = { attempt: 0, attempts: 0, ended_at: '2026-01-01', due: '2026-01-01' };
  const startOf = (child: string) => (child.endsWith('has started') ? 1 : 0);
  await insert(
    'job',
    CASES.flatMap(({ parentId, childId, continueOnFailure }) => [
      { ...created, id: parentId, spec: continueOnFailure ? { continue_on_failure: true } : {} },
      { ...created, id: childId, spec: {} },
    ]),
  );
  await insert(
    'live',
    CASES.flatMap(({ parentId, childId, end, child }) => [
      ...(end === null ? [{ ...live, job_id: parentId }] : []),
      ...(child.startsWith('waits') ? [{ ...live, job_id: childId, attempt: startOf(child) }] : []),
    ]),
  );
  await insert(
    'run',
    CASES.flatMap(({ parentId, childId, end, child }) => [
      ...(end === null ? [] : [{ ...run, job_id: parentId, status: end, outcome: end }]),
      ...(child.startsWith('ended')
        ? [{ ...run, job_id: childId, status: 'skipped', outcome: 'skipped', attempts: startOf(child) }]
        : []),
    ]),
  );
  await insert(
    'edge',
    CASES.map(({ parentId, childId, condition, state }) => ({
      parent_id: parentId,
      child_id: childId,
      condition,
      state,
    })),
  );

  const found = new Set<number>();
  const all = async <T>(_columns: Columns<T>, statement: Fragment): Promise<T[]> => {
    const { text, values } = postgresRenderer(s)(statement);
    for (const { job_id } of await given.query<{ job_id: number | string }>(text, values)) found.add(Number(job_id));
    return [];
  };
  await queueCascade({ all }, new Map(CASES.map(({ parentId }) => [parentId, 'ended'])));
  const wrong = CASES.filter(({ parentId, end, continueOnFailure, child, condition, state }) => {
    const ended = child.startsWith('ended');
    const related = { ended, status: ended ? 'skipped' : 'blocked', started: startOf(child) === 1 } as const;
    const link = {
      parent: parentFor(end, continueOnFailure, 'ended'),
      edge: { condition, state },
      child: { ...related, counters: openEdges(1), mode: 'each' } as const,
    };
    return propagate([link]).moves.length > 0 !== found.has(parentId);
  });
  assert.equal(CASES.length, 360);
  assert.deepEqual(wrong, []);
});
