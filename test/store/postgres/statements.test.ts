/**
 * Budgets of round trips: how many statements each call sends to PostgreSQL, with begin and commit. A loop that costs nothing on
 * SQLite is a round trip for every row here.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Engine, engine } from '../../../src/store/engine/engine.ts';
import type { Method } from '../../../src/store/sql/tx.ts';
import { openTestPostgres } from '../../kit/postgres.ts';
import { tourStore } from '../../kit/store-tour.ts';
import { STATEMENTS } from './statement-budgets.ts';

/** The statements of each call of the tour. */
async function statementsOfTour(): Promise<Map<string, string[]>> {
  await using given = await openTestPostgres();
  const sent = new Map<string, string[]>();
  await tourStore(
    given.store,
    (ms) => given.advance(ms),
    (call, text) => sent.set(call, [...(sent.get(call) ?? []), text]),
  );
  return sent;
}

const toured = statementsOfTour();

test('statements: no call sends more of them than its budget', async () => {
  const measured = [...(await toured)].map(([call, { length }]) => [call, length] as const);
  const over = measured.filter(([call, count]) => count > (STATEMENTS[call] ?? 0));
  assert.deepEqual(over, [], 'a call sends more statements');
  const under = measured.filter(([call, count]) => count < (STATEMENTS[call] ?? 0));
  assert.deepEqual(under, [], 'a call sends fewer statements: lower its budget');
});

const WRITES = /\b(insert into|update|delete from|lock table|for (no key )?update|for (key )?share)\b/i;

test('statements: a method that reads writes and locks nothing, one that writes does, and one statement is one', async () => {
  const wrong: string[] = [];
  for (const [call, texts] of await toured) {
    const method = (engine as Partial<Record<string, Method>>)[call.split(' ')[0] as keyof Engine];
    if (method === undefined) continue;
    const { mode, form, next } = method;
    const writes = texts.some((text) => WRITES.test(text));
    const mayWrite = mode === 'write' || next?.mode === 'write';
    if (writes && !mayWrite) wrong.push(`${call} writes in a read`);
    if (!writes && mayWrite && !call.endsWith('(nothing)')) wrong.push(`${call} writes nothing`);
    if (form === 'one' && next === undefined && texts.length !== 1) wrong.push(`${call} sends ${texts.length}`);
  }
  assert.deepEqual(wrong, []);
});
