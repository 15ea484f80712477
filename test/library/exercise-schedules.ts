/** Schedules of an application's jobs, wherever they live. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { job } from '../../src/index.ts';
import type { TestLibrary } from './exercise-library.ts';

const report = job('report', {
  input: z.object({ month: z.string() }),
  queue: 'reports',
  priority: 3,
  run: ({ month }, { tick }) => ({ month, tick }),
});

const HOUR = 3_600_000;

export function exerciseSchedules(open: () => Promise<TestLibrary>): void {
  test('a schedule is what the program says each time it starts; what a person paused stays so', async () => {
    await using it = await open();
    const { workron, other = workron } = it;
    const nightly = {
      cron: '0 2 * * *',
      timezone: 'Europe/Berlin',
      overlap: 'buffer_one',
      catchup: { policy: 'all', max: 5 },
      job: report,
      input: { month: 'may' },
      options: { priority: 7, env: { A: 'secret' }, notify: [{ on: ['failed'], command: 'true' }] },
    } as const;
    // Several processes start at once.
    const [handle] = await Promise.all([workron, other, workron].map((each) => each.schedule('nightly', nightly)));
    const made = await workron.scheduleHandle('nightly').schedule();
    assert.deepEqual(
      [made.cron, made.timezone, made.overlap, made.catchup, made.owner],
      ['0 2 * * *', 'Europe/Berlin', 'buffer_one', { policy: 'all', window: HOUR, max: 5 }, null],
    );
    const { handler, input, queue, priority, env } = made.job as NonNullable<typeof made.job>;
    assert.deepEqual([handler, input, queue, priority, env], ['report', { month: 'may' }, 'reports', 7, ['A']]);
    assert.deepEqual(made.notify, [{ on: ['failed'], command: 'true', lateAfter: 300_000 }]);
    const next = await handle?.next(400);
    assert.equal(next?.length, 400);
    assert.ok(
      next?.every((at) => [0, 1].includes(at.getUTCHours())),
      'two at night in Berlin, in winter and in summer',
    );
    assert.equal(next?.[0]?.toISOString(), made.nextRun);

    await handle?.pause('the move');
    await workron.schedule('nightly', nightly);
    const same = await handle?.schedule();
    assert.equal(same?.pausedNote, 'the move');
    await workron.schedule('nightly', nightly);
    assert.deepEqual(await handle?.schedule(), same, 'one that is so already is left alone');
    assert.equal((await handle?.resume())?.nextRun, made.nextRun);

    await workron.schedule('nightly', { every: '1h', anchor: new Date(HOUR / 2), command: 'true' });
    const changed = await other.scheduleHandle('nightly').schedule();
    assert.deepEqual([changed.cron, changed.every, changed.overlap], [null, HOUR, 'skip']);
    assert.deepEqual([changed.job?.command, changed.job?.queue], ['true', 'default']);
    await workron.schedule('a-first', { cron: '@daily', job: report, input: { month: 'may' } });
    assert.deepEqual(
      (await workron.schedules()).map(({ name }) => name),
      ['a-first', 'nightly'],
    );
    await handle?.remove();
    await assert.rejects(handle?.schedule() as Promise<unknown>, { code: 'schedule_not_found' });
    assert.equal((await workron.schedules()).length, 1);
  });

  test('a schedule is run by hand, and made up for; its runs are typed, and know their tick', async () => {
    await using it = await open();
    const { workron } = it;
    await workron.start({ jobs: [report] });
    const hourly = await workron.schedule('hourly', {
      every: '1h',
      overlap: 'allow',
      forEach: ['a', 'b'],
      job: report,
      input: { month: 'may' },
    });
    const [run, ...others] = await hourly.run({ keys: ['b'] });
    assert.deepEqual(others, []);
    const result = await run?.result();
    assert.equal(result?.month, 'may');
    assert.deepEqual(
      [result?.tick?.schedule, result?.tick?.key, result?.tick?.kind, result?.tick?.catchup],
      ['hourly', 'b', 'manual', false],
    );
    const [tick] = await hourly.ticks({ limit: 1 });
    assert.deepEqual([tick?.verdict, tick?.jobId], ['ran', run?.id]);
    assert.equal((await hourly.run()).length, 2);

    const to = new Date(Math.floor(Date.now() / HOUR) * HOUR);
    const range = { from: new Date(to.getTime() - 2 * HOUR), to, keys: ['a'] };
    const dry = await hourly.backfill({ ...range, dryRun: true });
    assert.deepEqual([dry.missing.length, dry.items.length], [2, 0]);
    const { items } = await hourly.backfill(range);
    assert.deepEqual(
      items.map(({ scheduledFor: at }) => Date.parse(at)),
      [to.getTime() - 2 * HOUR, to.getTime() - HOUR],
    );
    const past = await workron.handle<typeof result>(items[0]?.jobId as string).result();
    assert.equal(past?.tick?.kind, 'backfill');
    assert.equal(Date.parse(past?.tick?.intervalEnd ?? ''), to.getTime() - 2 * HOUR);
    assert.deepEqual((await hourly.backfill(range)).items, [], 'they have their runs');
  });

  test('what cannot be a schedule is refused, and nothing is stored', async () => {
    await using it = await open();
    const { workron } = it;
    const wrong: [string, object, RegExp | object][] = [
      ['x', { cron: '0 2 * * *', job: report, input: { month: 5 } }, /the input of report: \/month/],
      ['x', { cron: '0 2 30 2 *', job: report, input: { month: 'may' } }, { code: 'schedule_invalid' }],
      ['x', { cron: '0 2 * * *', every: '1h', command: 'true' }, /exactly one of cron and every/],
      ['x', { cron: '0 2 * * *', overlapp: 'skip', command: 'true' }, /did you mean.*overlap/i],
      ['x', { cron: '0 2 * * *', command: 'true', options: { delay: '1h' } }, { code: 'bad_request' }],
      ['Not A Name', { cron: '0 2 * * *', command: 'true' }, { code: 'bad_request' }],
    ];
    for (const [name, schedule, error] of wrong) {
      await assert.rejects(workron.schedule(name, schedule as { cron: string; command: string }), error);
    }
    await assert.rejects(workron.scheduleHandle('x').next(), { code: 'schedule_not_found' });
    await assert.rejects(workron.scheduleHandle('x').next(0), { code: 'bad_request' });
    await assert.rejects(workron.scheduleHandle('x').run(), { code: 'schedule_not_found' });
    assert.deepEqual(await workron.schedules(), []);
  });
}
