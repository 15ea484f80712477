/** Random graphs driven through every store: what becomes of them is what a rescan of all parents says. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readWorkflow } from '../../contract/kit/graph.ts';
import { openTestMemory } from '../../contract/kit/memory.ts';
import { forever } from '../../contract/kit/steps.ts';
import type { OpenStore } from '../../contract/kit/store.ts';
import { countedEnd } from '../../src/core/dag/conditions.ts';
import type { TerminalStatus } from '../../src/core/job.ts';
import { effort } from '../effort.ts';
import { asJobs, asSteps, DagDriver } from '../kit/dag-driver.ts';
import { dagPlan, picker } from '../kit/dag-plans.ts';
import { DagReference, type PlannedNode } from '../kit/dag-reference.ts';
import { openEmptiedPostgres } from '../kit/postgres.ts';
import { openEmptiedSqlite } from '../kit/sqlite.ts';

const STORES: [string, OpenStore][] = [
  ['memory', openTestMemory],
  ['sqlite', openEmptiedSqlite],
  ['postgres', () => openEmptiedPostgres()],
];

const numbers = fc.array(fc.nat(1_000_000), { minLength: 50, maxLength: 50 });
const plans = dagPlan(effort.dagNodes);
const runs = { numRuns: effort.dagStoreRuns, interruptAfterTimeLimit: effort.modelMs };

/** What may happen between two ends. */
const chance = fc.constantFrom('nothing', 'nothing', 'lose the worker', 'cancel a waiting node');
const chances = fc.array(chance, { minLength: 20, maxLength: 20 });

/** A finished workflow's row must say what its steps say. */
async function checkWorkflow(driver: DagDriver, plan: readonly PlannedNode[]): Promise<void> {
  if (driver.workflowId === null) return;
  const { status, counts, endedAt } = await readWorkflow(driver.store, { id: driver.workflowId });
  const ends = (await driver.fates()).map((fate, node) =>
    countedEnd(fate.status as TerminalStatus, plan[node]?.continueOnFailure ?? false),
  );
  const failed = ends.filter((end) => end === 'failed').length;
  const cancelled = ends.filter((end) => end === 'cancelled').length;
  assert.deepEqual(counts, { open: 0, fine: ends.length - failed - cancelled, failed, cancelled });
  assert.equal(status, failed > 0 ? 'failed' : cancelled > 0 ? 'cancelled' : 'done');
  assert.ok(endedAt !== null);
}

/** Nothing is left to run, to wait or to carry. */
async function checkEnded(driver: DagDriver): Promise<void> {
  const unfinished = { statuses: ['blocked', 'scheduled', 'pending', 'running'] } as const;
  assert.equal(await driver.store.count(unfinished, 10, forever), 0);
  assert.equal(await driver.store.cascade(10, forever), 0);
}

for (const [name, open] of STORES) {
  void describe(`graphs on ${name}`, { concurrency: 2 }, () => {
    void test('jobs, submitted as the graph runs, are after every end what the rules say', async () => {
      const property = fc.asyncProperty(plans, numbers, chances, fc.boolean(), async (drawn, picks, luck, cascades) => {
        await using opened = await open();
        const plan = asJobs(drawn);
        const pick = picker(picks);
        const driver = new DagDriver(opened, plan);
        const reference = new DagReference(plan, 0);
        for (let turn = 0; ; turn += 1) {
          const { free } = reference;
          const more = driver.ids.length < plan.length;
          if (more && (free.length === 0 || pick([0, 1]) === 0)) {
            await driver.submitJob();
            reference.admit(driver.ids.length - 1);
          } else if (free.length > 0) {
            await driver.take();
            if (luck[turn % luck.length] === 'lose the worker') await driver.loseWorker();
            const waiting = driver.ids.flatMap((_, node) =>
              reference.fates[node]?.status === 'blocked' ? [node] : [],
            );
            if (luck[turn % luck.length] === 'cancel a waiting node' && waiting.length > 0) {
              const node = pick(waiting);
              await driver.cancel(node, { cascades });
              reference.end(node, 'cancelled', { cascades });
            } else {
              const node = pick(free);
              const end = plan[node]?.ends[0] ?? 'done';
              await driver.end([{ node, end, cascades }]);
              reference.end(node, end, { cascades: cascades && end === 'cancelled' });
            }
          } else break;
          await driver.settleDown();
          await driver.agree(reference);
        }
        await checkEnded(driver);
      });
      await fc.assert(property, runs);
    });

    void test('steps of a workflow are after every end what the rules say', async () => {
      const property = fc.asyncProperty(plans, numbers, fc.boolean(), async (drawn, picks, cascades) => {
        await using opened = await open();
        const plan = asSteps(drawn);
        const pick = picker(picks);
        const driver = new DagDriver(opened, plan);
        const reference = new DagReference(plan);
        await driver.submitWorkflow();
        for (let { free } = reference; free.length > 0; { free } = reference) {
          await driver.agree(reference);
          await driver.take();
          const node = pick(free);
          const end = plan[node]?.ends[0] ?? 'done';
          await driver.end([{ node, end, cascades }]);
          reference.end(node, end, { cascades: cascades && end === 'cancelled' });
          await driver.settleDown();
        }
        await driver.agree(reference);
        await checkWorkflow(driver, plan);
        await checkEnded(driver);
      });
      await fc.assert(property, runs);
    });

    void test('retries open what they skipped, one after the other', async () => {
      const property = fc.asyncProperty(plans, numbers, fc.boolean(), async (drawn, picks, steps) => {
        await using opened = await open();
        const plan = steps ? asSteps(drawn) : asJobs(drawn);
        const pick = picker(picks);
        const driver = new DagDriver(opened, plan);
        const reference = new DagReference(plan);
        if (steps) await driver.submitWorkflow();
        else for (const _ of plan) await driver.submitJob();
        for (const round of [0, 1, 1] as const) {
          for (let { free } = reference; free.length > 0; { free } = reference) {
            await driver.take();
            const node = pick(free);
            const end = plan[node]?.ends[round] ?? 'done';
            await driver.end([{ node, end }]);
            reference.end(node, end);
            await driver.settleDown();
          }
          await driver.agreeOnStatus(reference);
          await checkWorkflow(driver, plan);
          const over = plan.keys().filter((node) => reference.fates[node]?.status !== 'done');
          const node = pick([...over, -1]);
          if (round === 1 || node === -1) continue;
          await driver.retry(node);
          reference.retry(node);
          await driver.settleDown();
          await driver.agreeOnStatus(reference);
        }
        await checkEnded(driver);
      });
      await fc.assert(property, runs);
    });

    void test('the fast path of successes comes to what the rules of all ends come to, after every end', async () => {
      const property = fc.asyncProperty(plans, numbers, fc.boolean(), async (drawn, picks, steps) => {
        await using one = await open();
        await using other = await open();
        const plan = steps ? asSteps(drawn) : asJobs(drawn);
        const pick = picker(picks);
        const [fast, general] = [new DagDriver(one, plan), new DagDriver(other, plan)];
        const drivers = [fast, general];
        for (const driver of drivers) {
          if (steps) await driver.submitWorkflow();
          else for (const _ of plan) await driver.submitJob();
        }
        const ended = new Set<number>();
        for (const round of [0, 1] as const) {
          for (;;) {
            for (const driver of drivers) await driver.take();
            const now = await fast.fates();
            assert.deepEqual(await general.fates(), now);
            const free = [...plan.keys()].filter((node) => now[node]?.status === 'free');
            if (free.length === 0) break;
            const together = [...new Set([pick(free), pick(free), pick(free)])];
            const ends = together.map((node) => ({ node, end: plan[node]?.ends[round] ?? 'done' }));
            // Successes first: whichever edge cannot hold first decides why a child is skipped.
            for (const some of [ends.filter(({ end }) => end === 'done'), ends.filter(({ end }) => end !== 'done')]) {
              await fast.end(some);
              await general.end(some, { fastPath: false });
            }
            for (const node of together) ended.add(node);
            for (const driver of drivers) await driver.settleDown();
          }
          for (const driver of drivers) await checkWorkflow(driver, plan);
          const over = [...ended].filter((node) => plan[node]?.ends[0] !== 'done');
          if (round === 1 || over.length === 0) break;
          const node = pick(over);
          for (const driver of drivers) {
            await driver.retry(node);
            await driver.settleDown();
          }
        }
        for (const driver of drivers) await checkEnded(driver);
      });
      await fc.assert(property, runs);
    });

    void test('whatever ends at the same time, and however late it is propagated, all end as the rules say', async () => {
      const property = fc.asyncProperty(plans, numbers, fc.boolean(), async (drawn, picks, steps) => {
        await using opened = await open();
        const plan = steps ? asSteps(drawn) : asJobs(drawn);
        const pick = picker(picks);
        const driver = new DagDriver(opened, plan);
        const reference = new DagReference(plan);
        if (steps) await driver.submitWorkflow();
        else for (const _ of plan) await driver.submitJob();
        const ended = new Set<number>();
        for (;;) {
          await driver.take();
          const now = await driver.fates();
          const free = [...plan.keys()].filter((node) => now[node]?.status === 'free' && !ended.has(node));
          if (free.length === 0) {
            if ((await driver.store.cascade(2, forever)) === 0) break;
            continue;
          }
          for (const node of free) assert.notEqual(reference.fates[node]?.status, 'blocked', `${node} runs too early`);
          const together = [...new Set([pick(free), pick(free), pick(free), pick(free)])];
          const ends = together.map((node) => ({ node, end: plan[node]?.ends[0] ?? 'done' }));
          await Promise.all([
            driver.end(ends.slice(0, 2)),
            driver.end(ends.slice(2)),
            driver.store.cascade(3, forever),
            driver.store.cascade(3, forever),
          ]);
          for (const { node, end } of ends) {
            ended.add(node);
            reference.end(node, end);
          }
        }
        await driver.agreeOnStatus(reference);
        await checkWorkflow(driver, plan);
        await checkEnded(driver);
      });
      await fc.assert(property, runs);
    });
  });
}
