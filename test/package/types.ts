/** Code that must not compile. Checked by `npm run check`: an expected error that is missing is an error itself. */

import assert from 'node:assert/strict';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { job, type RunnableJob, type Workron } from '../../src/index.ts';

export async function mistakes(workron: Workron): Promise<void> {
  const mail = job('mail', {
    input: z.object({ to: z.string(), copies: z.number().default(1) }),
    run: ({ to, copies }) => ({ id: to, copies, at: new Date() }),
  });
  const declared = job('declared', { input: v.object({ n: v.number() }), result: z.object({ ok: z.boolean() }) });
  const none = job('none', { run: () => 'fine' });
  const typed = job('typed', { run: (input: { width: number }) => input.width });
  const parsed = job('parsed', { input: type({ n: 'string.integer.parse' }), run: ({ n }) => n + 1 });

  // Correct: with the schema's defaults, without an input, and with the type that a result has after JSON.
  const handle = await workron.submit(mail, { to: 'ada' }, { delay: '5m' });
  const result: { id: string; copies: number; at: string } = await handle.result();
  const text: string = await (await workron.submit(none)).result();
  const ok: boolean = (await (await workron.submit(declared, { n: 1 })).result()).ok;
  const one: number = await (await workron.submit(parsed, { n: '1' })).result();
  await workron.submit(typed, { width: 3 });
  const handled: RunnableJob = declared.handle(({ n }) => ({ ok: n > 0 }));
  await workron.start({ jobs: [mail, none, typed, parsed, handled] });

  // @ts-expect-error wrong input
  await workron.submit(mail, { to: 5 });
  // @ts-expect-error missing input
  await workron.submit(mail);
  // @ts-expect-error wrong input of a job without a schema
  await workron.submit(typed, { width: '3' });
  // @ts-expect-error wrong input of one of many
  await workron.submitAll(mail, [{ to: 'ada' }, { from: 'ada' }]);
  // @ts-expect-error not a job
  await workron.submit('mail', { to: 'ada' });
  // @ts-expect-error an unknown option
  await workron.submit(none, undefined, { prio: 5 });
  // @ts-expect-error a wrong result
  const wrong: number = await handle.result();
  // @ts-expect-error Date is text after JSON
  const at: Date = result.at;
  // @ts-expect-error a job without its function cannot be run
  await workron.start({ jobs: [declared] });
  // @ts-expect-error the function must return the declared type
  declared.handle(() => ({ ok: 'yes' }));
  // @ts-expect-error a bigint has no JSON form
  job('bad', { run: () => 1n });
  // @ts-expect-error later, too
  job('bad', { input: z.object({ n: z.number() }), run: async ({ n }) => BigInt(n) });
  // @ts-expect-error as a property, too
  job('bad', { run: (n: number) => ({ n: BigInt(n) }) });
  // @ts-expect-error or in a list
  job('bad', { run: (n: number) => [BigInt(n)] });
  // @ts-expect-error or if it may be one
  job('bad', { run: (n: number) => (n > 1 ? BigInt(n) : n) });
  // @ts-expect-error nor has a function
  job('bad', { run: () => () => 1 });
  job('good', { run: () => ({ at: new Date(), toJSON: () => '1', big: 1n }) });
  job('good', { run: (): never => assert.fail() });
  job('good', { run: (text: string) => JSON.parse(text) });
  job('good', { run: (text: string): unknown => text });
  job('good', { run: async (n: number): Promise<{ n: number; name?: string } | null> => (n > 1 ? { n } : null) });
  // @ts-expect-error a property that the schema does not have
  job('bad', { input: z.object({ n: z.number() }), run: ({ m }) => m });
  const nightly = await workron.schedule('nightly', { cron: '0 2 * * *', job: mail, input: { to: 'ada' } });
  const [run] = await nightly.run();
  const ran: { id: string; copies: number; at: string } | undefined = await run?.result();
  await workron.schedule('none', { every: '1h', anchor: new Date(0), job: none, options: { priority: 5 } });
  await workron.schedule('command', { every: '1h', command: 'true' });
  // @ts-expect-error wrong input
  await workron.schedule('nightly', { cron: '0 2 * * *', job: mail, input: { to: 5 } });
  // @ts-expect-error missing input
  await workron.schedule('nightly', { cron: '0 2 * * *', job: mail });
  // @ts-expect-error both kinds of timing
  await workron.schedule('nightly', { cron: '0 2 * * *', every: '1h', job: none });
  // @ts-expect-error no timing
  await workron.schedule('nightly', { job: none });
  // @ts-expect-error an unknown rule
  await workron.schedule('nightly', { cron: '0 2 * * *', overlap: 'maybe', job: none });
  // @ts-expect-error a scheduled job has no delay: its tick sets the time
  await workron.schedule('nightly', { cron: '0 2 * * *', job: none, options: { delay: '5m' } });
  // @ts-expect-error neither a webhook nor a command
  await workron.submit(none, undefined, { notify: [{ on: ['failed'] }] });
  // @ts-expect-error an unknown event
  await workron.submit(none, undefined, { notify: [{ on: ['broken'], command: 'true' }] });
  job('child', {
    run: async (_: unknown, { submit }) => {
      // @ts-expect-error children are checked too
      await submit(mail, { to: 1 });
    },
  });
  void [text, ok, one, wrong, at, ran];
}
