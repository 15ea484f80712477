/** A workflow's steps as a terminal shows them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StepState, WorkflowDetail } from '../../src/api/workflow/workflow.ts';
import { stepTree } from '../../src/cli/output/step-tree.ts';

const AT = '2026-01-31T09:00:00.000Z';
const LATER = '2026-01-31T09:00:02.000Z';

function step(key: string, depends_on: string[] = [], more: Partial<StepState> = {}): StepState {
  return {
    key,
    job_id: '1',
    name: null,
    queue: 'default',
    status: 'blocked',
    depends_on,
    if: 'success',
    continue_on_failure: false,
    attempts: 0,
    failures: 0,
    max_attempts: 3,
    created_at: AT,
    run_at: AT,
    started_at: null,
    done_at: null,
    worker_id: null,
    exit_code: null,
    signal: null,
    error: null,
    failure: null,
    reason: null,
    rerun_of: null,
    progress: null,
    group: null,
    ...more,
  };
}

function workflow(steps: StepState[]): WorkflowDetail {
  return {
    id: '7',
    name: 'etl',
    params: {},
    notify: [],
    status: 'running',
    created_at: AT,
    started_at: null,
    ended_at: null,
    rerun_of: null,
    definition: null,
    submitted_by: null,
    step_counts: { total: steps.length, open: 0, fine: 0, failed: 0, cancelled: 0 },
    steps,
    critical_path: [],
  };
}

const whole = { width: undefined, rows: undefined };
const ended: Partial<StepState> = { started_at: AT, done_at: LATER, attempts: 1 };

test('tree: each step below its deepest parent, with what became of it', () => {
  const group = { total: 5, inserted: 4, max_parallel: 2, open: 2, fine: 1, failed: 1, cancelled: 0 };
  const steps = [
    step('a', [], { ...ended, status: 'done' }),
    step('b', ['a'], { ...ended, status: 'failed', reason: 'exit', failure: { line: 'exit 7: last words' } }),
    step('c', ['a'], { ...ended, done_at: null, status: 'cancelled', group }),
    step('d', ['b', 'a'], { status: 'skipped', reason: 'upstream_failed' }),
    step('e', [], { status: 'done', rerun_of: '3' }),
  ];
  const [, ...lines] = stepTree(workflow(steps), whole).trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => line.replace(/\d+d\d*h?/, 'T')),
    [
      '├─ a  done  2s',
      '│  ├─ b  failed  2s  exit 7: last words',
      '│  │  └─ d  skipped  (an upstream job failed)',
      '│  └─ c  cancelled  T  2/5 items, 1 failed',
      '└─ e  done  kept from job 3',
    ],
  );
});

test('tree: what comes from jobs cannot command the terminal, and no line is wider than it', () => {
  const failure = { line: `exit 1: \u001b[2J${'long '.repeat(50)}` };
  const steps = [step('a', [], { ...ended, status: 'failed', reason: 'exit', failure })];
  const text = stepTree({ ...workflow(steps), name: 'n'.repeat(100) }, { width: 40, rows: 20 });
  assert.ok(!text.includes('\u001b[2J'));
  for (const line of text.split('\n')) assert.ok(line.length <= 40, line);
});

test('tree: more steps than lines, or a long chain, become a list of what matters', () => {
  const steps = Array.from({ length: 50_000 }, (_, index) =>
    step(`s${index}`, index === 0 ? [] : [`s${index - 1}`], { status: index === 40_000 ? 'running' : 'blocked' }),
  );
  const lines = stepTree(workflow(steps), { width: 80, rows: 10 }).trimEnd().split('\n');
  assert.equal(lines.length, 9);
  assert.equal(lines[1], 's40000  running');
  assert.equal(lines.at(-1), '… and 49993 more steps');
  assert.equal(stepTree(workflow(steps), whole).split('\n').length, 50_002);
  const wide = [step('all'), ...Array.from({ length: 99_999 }, (_, index) => step(`s${index}`, ['all']))];
  assert.equal(stepTree(workflow(wide), whole).split('\n').length, 100_002);
});

test('tree: many steps that another one has skipped are one line; with all of them asked for, each has its own', () => {
  const skipped = (key: string, parent: string) =>
    step(key, [parent], { status: 'skipped', reason: 'upstream_failed' });
  const failed = step('load', [], { status: 'failed', job_id: '12', reason: 'exit' });
  const few = [failed, ...['a', 'b', 'c'].map((key) => skipped(key, 'load'))];
  assert.equal(stepTree(workflow(few), whole).split('\n').length, 6);
  const many = [
    ...few,
    skipped('d', 'a'),
    step('tell', ['d'], { status: 'done', if: 'ended' }),
    skipped('e', 'b'),
    skipped('f', 'e'),
  ];
  assert.deepEqual(stepTree(workflow(many), whole).split('\n').slice(1, -1), [
    '└─ load  failed  (it failed)',
    '   └─ a  skipped  (an upstream job failed)',
    '      └─ d  skipped  (an upstream job failed)',
    '         └─ tell  done',
    '   … 4 skipped (an upstream job failed)',
  ]);
  const all = stepTree(workflow(many), { ...whole, all: true, ids: true });
  assert.match(all, /^└─ load {2}failed {2}#12 {2}\(it failed\)\n {3}├─ a /m);
  assert.equal(all.split('\n').length, 10);
});
