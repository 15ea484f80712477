/** The race's own arithmetic: inputs, ratios, verdicts. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContenderName } from '../../bench/race/contender.ts';
import { COSTS, DISCIPLINES, type Discipline, figuresOf, PROCESSOR } from '../../bench/race/discipline.ts';
import { lookAgainInMs } from '../../bench/race/events.ts';
import { medianRatio, type Result, turned } from '../../bench/race/hold.ts';
import { inputOf, LARGE_BYTES, SMALL_BYTES, sumOf } from '../../bench/race/payload.ts';
import { bestPeer, linesOf, markdown } from '../../bench/race/report.ts';
import { type Race, withTables } from '../../bench/race/table.ts';
import { judge } from '../../bench/race/verdict.ts';

test('race: inputs have the exact size as JSON, and differ from job to job', () => {
  for (const bytes of [SMALL_BYTES, LARGE_BYTES]) {
    for (const number of [0, 1, 99_999, 1_000_000]) assert.equal(JSON.stringify(inputOf(number, bytes)).length, bytes);
    assert.notDeepEqual(inputOf(1, bytes), inputOf(2, bytes));
  }
  assert.notEqual(inputOf(1, LARGE_BYTES).pad, inputOf(2, LARGE_BYTES).pad);
  assert.throws(() => inputOf(0, 21), /expected 20 or 29–\d+ bytes, got 21/);
});

test('race: the sum of the numbers is that of the jobs from a place on', () => {
  const numbers = [3, 4, 5, 6].map((number) => inputOf(number, SMALL_BYTES).n);
  assert.equal(
    numbers.reduce((sum, n) => sum + n),
    sumOf(3, 4),
  );
});

test('race: a ratio is the median of the rounds in which both have a figure', () => {
  assert.equal(medianRatio([10, 20, 60], [10, 10, 10]), 2);
  assert.equal(medianRatio([10, Number.NaN, 60], [10, 10, 10]), 3.5);
  assert.equal(medianRatio([10], [Number.NaN]), undefined);
  assert.equal(medianRatio([], [1]), undefined);
});

test('race: the order turns from round to round', () => {
  assert.deepEqual(turned(['a', 'b', 'c'], 0), ['a', 'b', 'c']);
  assert.deepEqual(turned(['a', 'b', 'c'], 4), ['b', 'c', 'a']);
  assert.deepEqual(turned([], 4), []);
});

test('race: the workers are asked seldom at first and often at the end', () => {
  assert.equal(lookAgainInMs(0, 10), 250);
  assert.equal(lookAgainInMs(0.5, 100), 50);
  assert.equal(lookAgainInMs(0.999, 1_000), 5);
  assert.equal(lookAgainInMs(1, 1_000), 5);
});

test('race: smoke passes only where the peer takes 1.3 times our processor time', () => {
  const failed = judge([80, 84], [60, 63], 'peer', 1.3);
  assert.equal(failed.passed, false);
  assert.equal(
    failed.message,
    'Workron 82.0 µs, peer 61.5 µs of processor time per job: 0.75× (expected at least 1.3×)',
  );
  assert.equal(judge([50, 50], [65, 65], 'peer', 1.3).passed, true);
  assert.equal(judge([50, 50], [64, 65], 'peer', 1.3).passed, false);
  assert.equal(judge([Number.NaN], [60], 'peer', 1.3).passed, false);
});

test('race: every table begins with ours, and its goals name what it measures', () => {
  for (const discipline of DISCIPLINES) {
    assert.match(discipline.contenders[0] ?? '', /^workron/);
    const figures = figuresOf(discipline).map(({ name }) => name);
    for (const { against, figure } of discipline.goals) {
      assert.ok(discipline.contenders.includes(against), `${discipline.title}: ${against}`);
      assert.ok(figures.includes(figure), `${discipline.title}: ${figure}`);
    }
  }
});

test('race: the best peer is the fastest by rate and the cheapest by processor time', () => {
  const lines = linesOf(aResult({ workron: [100, 80], 'graphile-batch': [90, 60], 'pg-boss': [120, 90] }));
  assert.equal(bestPeer(lines, 'rate')?.contender, 'pg-boss');
  assert.equal(bestPeer(lines, PROCESSOR)?.contender, 'graphile-worker, batched');

  const goals = lines
    .filter(({ goal }) => goal !== null)
    .map(({ figure, ratio, met }) => [figure, ratio?.toFixed(2), met]);
  assert.deepEqual(goals, [
    ['rate', '1.11', false],
    [PROCESSOR, '1.33', false],
  ]);
  const text = markdown(lines);
  assert.match(text, /^### drain, 1 process × 24$/m);
  assert.match(
    text,
    /^\| graphile-worker, batched \| 90.0 \| 1.11×, goal ≥ 2× not met \| .* 1.33×, goal ≤ 0.7× not met \|$/m,
  );
  assert.match(text, /^Against the best peer in rate \(pg-boss\): 0.83×\.$/m);
});

test('race: its tables replace those between the markers, with cold statistics apart', () => {
  const lines = linesOf(aResult({ workron: [100, 80], 'graphile-batch': [90, 60], 'pg-boss': [120, 90] }));
  const cold = lines.map((line) => ({ ...line, discipline: `${line.discipline}, cold statistics` }));
  const race: Race = {
    at: '2026-11-20T10:00:00.000Z',
    machine: { node: 'v26.10.0', system: 'Linux', cores: 2 },
    peers: { 'pg-boss': '12.38.0' },
    lines: [...lines, ...cold],
  };
  const page = 'before\n<!-- race -->\nold\n<!-- /race -->\nbetween\n<!-- cold -->\nold\n<!-- /cold -->\nafter\n';
  const written = withTables(page, race);
  assert.doesNotMatch(written, /^old$/m);
  assert.match(written, /^2026-11-20, 2 cores, Node 26\.10\.0, 1 interleaved rounds; pg-boss 12\.38\.0\. Medians\.$/m);
  const row = '100 jobs/s | pg-boss 120 jobs/s | 0.83× | 1.13× |';
  const [settled = '', apart = ''] = written.split('between');
  assert.ok(settled.includes(`| drain, 1 process × 24 | ${row}`), settled);
  assert.ok(apart.includes(`| drain, 1 process × 24, cold statistics | ${row}`), apart);
  assert.ok(!settled.includes('cold'));
  assert.equal(withTables(written, race), written);
  assert.throws(() => withTables('no markers', race), /expected the markers <!-- race -->/);
});

/** One round: a rate and a processor time of each. */
function aResult(rounds: Partial<Record<ContenderName, [rate: number, us: number]>>): Result {
  const [discipline] = DISCIPLINES as [Discipline, ...Discipline[]];
  const values = new Map<ContenderName, number[][]>();
  for (const [name, [rate, us]] of Object.entries(rounds)) {
    values.set(name as ContenderName, [[rate], ...COSTS.map((cost) => [cost.name === PROCESSOR ? us : Number.NaN])]);
  }
  return { discipline, values };
}
