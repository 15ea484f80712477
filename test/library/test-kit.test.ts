/** The kit with which applications test their jobs, the same on every store. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { job } from '../../src/index.ts';
import { openTestKit } from '../../src/testing.ts';
import { openEmptiedPostgres } from '../kit/postgres.ts';
import { aFolder } from '../kit/sqlite.ts';

const mail = job('mail', { input: z.object({ to: z.string() }), run: ({ to }) => `sent to ${to}` });
const flaky = job('flaky', {
  maxAttempts: 3,
  backoff: { type: 'fixed', base: '1h', jitter: 0 },
  run(_: unknown, { attempt }) {
    if (attempt < 3) throw new Error('not yet');
    return attempt;
  },
});
const order = job('order', {
  async run(items: readonly string[], { submit }) {
    for (const to of items) await submit(mail, { to });
  },
});

const PLACES: Record<string, () => Promise<{ url: string; schema?: string } & AsyncDisposable>> = {
  memory: async () => ({ url: 'memory:', [Symbol.asyncDispose]: () => Promise.resolve() }),
  async sqlite() {
    const folder = await aFolder();
    return { url: join(folder.path, 'w.db'), [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
  },
  postgres: () => openEmptiedPostgres(),
};

for (const [name, openPlace] of Object.entries(PLACES)) {
  describe(`test kit: ${name}`, () => {
    test('a job with a sealed input runs without a key of its own, and the test sees its input', async () => {
      await using place = await openPlace();
      const charge = job('charge', { sealInput: true, run: (card: string) => card.length });
      const cards = ['4242', 'x'.repeat(10_000)];
      await using kit = await openTestKit({ ...place, jobs: [charge] });
      await kit.workron.submitAll(charge, cards);
      assert.deepEqual(await kit.submitted(charge), cards);
      const ran = await kit.runAll();
      assert.deepEqual(
        ran.map(({ input, result }) => [input, result]),
        [
          [null, 4],
          [null, 10_000],
        ],
      );
    });

    test('a due job that the kit has no handler for is named, once everything else has run', async () => {
      await using place = await openPlace();
      const charge = job('charge');
      const kit = await openTestKit({ ...place, jobs: [mail] });
      await kit.workron.submit(mail, { to: 'ada' });
      await kit.workron.submitCommand('true');
      await kit.workron.submit(charge, null, { delay: '1h' });
      assert.deepEqual(
        (await kit.runAll()).map(({ result }) => result),
        ['sent to ada'],
      );
      await kit.advance('2h');
      const message =
        /^job \d+ waits for the handler charge, which the kit does not have: add the job to jobs, or to elsewhere/;
      await assert.rejects(kit.runNext(), { code: 'bad_request', message });
      await kit.workron.submit(mail, { to: 'bob' });
      await assert.rejects(kit.runAll(), { message });
      assert.equal((await kit.workron.submit(mail, { to: 'x' })).deduplicated, false);
      assert.equal((await kit.runNext())?.result, 'sent to x', 'bob has run before');
      await kit[Symbol.asyncDispose]();
      await using other = await openTestKit({ ...place, jobs: [mail], elsewhere: [charge] });
      await other.workron.submit(charge, 7);
      assert.deepEqual(await other.runAll(), []);
      assert.equal((await other.submitted(charge)).at(-1), 7);
    });

    test('a test begins at its own date and advances to any other, through a change of the clocks', async () => {
      await using place = await openPlace();
      const ticks: (string | undefined)[] = [];
      const nightly = job('nightly', {
        run: (_: unknown, { tick }) => void ticks.push(tick?.scheduledFor.toISOString()),
      });
      const given = { jobs: [nightly], url: place.url, ...schemaOf(place) };
      await using kit = await openTestKit({ ...given, now: '2026-03-28T00:00:00Z' });
      assert.match((await kit.now()).toISOString(), /^2026-03-28T00:0/);
      await kit.workron.schedule('nightly', { cron: '30 2 * * *', timezone: 'Europe/Berlin', job: nightly });
      for (const instant of [
        '2026-03-28T01:30:00Z',
        '2026-03-29T00:59:00Z',
        '2026-03-29T01:00:00Z',
        '2026-03-30T00:30:00Z',
      ]) {
        await kit.advanceTo(instant);
        await kit.runAll();
      }
      // In the night of the 29th, 02:30 does not exist: the clocks go from 02:00 to 03:00.
      assert.deepEqual(ticks, ['2026-03-28T01:30:00.000Z', '2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z']);
      await assert.rejects(
        kit.advanceTo('2026-03-28T00:00:00Z'),
        /advanceTo: expected an instant from 2026-03-30T00:3/,
      );
      await assert.rejects(kit.advanceTo('soon'), {
        code: 'bad_request',
        message: 'advanceTo: expected a date, got soon',
      });
    });

    test('jobs run one by one, when the test says so, and what they submit can be asked for', async () => {
      await using place = await openPlace();
      await using kit = await openTestKit({ jobs: [mail, order], url: place.url, ...schemaOf(place) });
      const handle = await kit.workron.submit(order, ['ada', 'bob']);
      const later = await kit.workron.submit(mail, { to: 'child' }, { dependsOn: [handle] });
      assert.equal((await handle.job()).status, 'pending', 'nothing runs by itself');
      assert.equal((await kit.runNext())?.status, 'done');
      assert.deepEqual(await kit.submitted(mail), [{ to: 'child' }, { to: 'ada' }, { to: 'bob' }]);
      const ran = await kit.runAll();
      assert.deepEqual(
        new Set(ran.map(({ result }) => result)),
        new Set(['sent to child', 'sent to ada', 'sent to bob']),
      );
      assert.equal(await later.result(), 'sent to child');
      assert.equal(await kit.runNext(), null);
    });

    test('time moves when the test says so: delays and next attempts come due', async () => {
      await using place = await openPlace();
      await using kit = await openTestKit({ jobs: [mail, flaky], url: place.url, ...schemaOf(place) });
      const delayed = await kit.workron.submit(mail, { to: 'zoe' }, { delay: '1d' });
      const handle = await kit.workron.submit(flaky);
      assert.equal((await kit.runNext())?.status, 'scheduled');
      assert.equal(await kit.runNext(), null);
      await kit.advance('59m');
      assert.equal(await kit.runNext(), null, 'too early');
      await kit.advance('1m');
      assert.equal((await kit.runAll()).length, 1);
      await kit.advance('1h');
      await kit.runAll();
      assert.equal(await handle.result(), 3);
      await kit.advance('1d');
      await kit.runAll();
      assert.equal(await delayed.result(), 'sent to zoe');
    });

    test('time fires schedules', async () => {
      await using place = await openPlace();
      await using kit = await openTestKit({ jobs: [mail], url: place.url, ...schemaOf(place) });
      const anchor = new Date(Date.now() + 1_800_000);
      const hourly = await kit.workron.schedule('hourly', { every: '1h', anchor, job: mail, input: { to: 'ada' } });
      assert.equal(await kit.runNext(), null, 'nothing is due yet');
      for (let hour = 1; hour <= 2; hour += 1) {
        await kit.advance('1h');
        assert.deepEqual(
          (await kit.runAll()).map(({ result }) => result),
          ['sent to ada'],
        );
      }
      assert.deepEqual(await kit.submitted(mail), [{ to: 'ada' }, { to: 'ada' }]);
      const [next] = await hourly.next(1);
      assert.equal(next?.getTime(), anchor.getTime() + 2 * 3_600_000, 'by the time of the test');
      await hourly.pause();
      await kit.advance('1h');
      assert.equal(await kit.runNext(), null);
      await hourly.resume();
      await kit.advance('3h');
      assert.equal((await kit.runAll()).length, 1, 'a jump is like downtime: the latest is caught up');
      assert.deepEqual((await hourly.ticks()).map(({ verdict, count }) => `${verdict} ${count}`).reverse(), [
        'ran 1',
        'ran 1',
        'paused 1',
        'missed 2',
        'ran 1',
      ]);
    });
  });
}

function schemaOf({ schema }: { schema?: string }): { schema?: string } {
  return schema === undefined ? {} : { schema };
}
