/**
 * `npm run attack`: tries every attack on servers of its own, on the loopback, and prints what got through.
 *
 *   npm run attack [-- part of a ground's name …]
 *
 * Each list of attacks is tried on several grounds: stores, ways to reach the server, states of it, versions of Node.
 */

import { type GroupResult, type Make, tryAll } from './attack.ts';
import { GROUNDS, type Ground, onLateStore } from './ground.ts';
import { httpAttacks } from './http-table.ts';
import { NODE_GROUNDS, Skipped } from './process-ground.ts';
import { raceAttacks } from './race-attacks.ts';
import { RUN_AS_GROUNDS, whyNoOtherUser } from './run-as-ground.ts';
import { slowAttacks } from './slow-attacks.ts';
import { webhookAttacks } from './webhook-attacks.ts';

const RACE_ROUNDS = 3;

type Stack = AsyncDisposableStack;
type Open = (stack: Stack) => Promise<Make[]>;

const overHttp = (open: (stack: Stack) => Promise<Ground>): Open => {
  return async (stack) => {
    const ground = await open(stack);
    const races = ground.again === undefined ? [] : [() => raceAttacks(ground.guarded, RACE_ROUNDS)];
    return [...httpAttacks(ground), ...races];
  };
};
const httpGrounds = Object.entries({ ...GROUNDS, ...NODE_GROUNDS }).map(([name, open]) => [name, overHttp(open)]);

const noOther = whyNoOtherUser();
const grounds: Readonly<Record<string, Open>> = {
  ...(Object.fromEntries(httpGrounds) as Record<string, Open>),
  'a store that answers late': async (stack) => {
    const { guarded } = await onLateStore(stack);
    return [() => raceAttacks(guarded, RACE_ROUNDS)];
  },
  'slow and many clients': async (stack) => [await slowAttacks(stack)],
  webhooks: async () => [webhookAttacks],
  ...(noOther === undefined ? RUN_AS_GROUNDS : {}),
};

const wanted = process.argv.slice(2);
const skipped = noOther === undefined ? [] : [`attacks of another user were not tried: ${noOther}`];
const columns: { name: string; results: GroupResult[] }[] = [];
const startedAt = performance.now();
for (const [name, open] of Object.entries(grounds)) {
  if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue;
  await using stack = new AsyncDisposableStack();
  try {
    const began = performance.now();
    const results = await tryAll(await open(stack));
    columns.push({ name, results });
    const cases = results.reduce((sum, result) => sum + result.cases, 0);
    console.log(`${name}: ${cases} attacks, ${((performance.now() - began) / 1_000).toFixed(0)} s`);
  } catch (error) {
    if (!(error instanceof Skipped)) throw error;
    skipped.push(`${name}: ${error.message}`);
  }
}

printTable();
const through = columns.flatMap(({ name: ground, results }) =>
  results.flatMap(({ group, through: found }) => found.map((one) => ({ ground, group, ...one }))),
);
for (const { ground, group, name, what } of through)
  console.log(`\nGOT THROUGH on ${ground}: ${group}: ${name}\n  ${what}`);
for (const reason of skipped) console.log(`\nSKIPPED: ${reason}`);
const total = columns.flatMap(({ results }) => results).reduce((sum, { cases }) => sum + cases, 0);
const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
console.log(`\n${total} attacks on ${columns.length} grounds in ${seconds} s, ${through.length} got through`);
process.exitCode = through.length === 0 ? 0 : 1;

/** A row for each group, with the number of grounds, of attacks, and of those that got through. */
function printTable(): void {
  const groups = [...new Set(columns.flatMap(({ results }) => results.map(({ group }) => group)))];
  const width = Math.max(...groups.map((group) => group.length));
  console.log(`\n${'group'.padEnd(width)}  grounds  attacks  got through`);
  for (const group of groups) {
    const found = columns.flatMap(({ results }) => results.filter((result) => result.group === group));
    const cases = found.reduce((sum, result) => sum + result.cases, 0);
    const passed = found.reduce((sum, result) => sum + result.through.length, 0);
    const cells = [String(found.length).padStart(7), String(cases).padStart(7), String(passed).padStart(11)];
    console.log(`${group.padEnd(width)}  ${cells.join('  ')}`);
  }
}
