import assert from 'node:assert/strict';
import { DEFAULT_SPEC, type Job } from '../src/core/job.ts';
import type { JobFilter } from '../src/core/job-filter.ts';
import { type ListedJob, MAX_LISTED_LENGTH, MAX_LISTED_PARENTS } from '../src/core/job-filter.ts';
import { WEBHOOK_HANDLER } from '../src/core/notify.ts';
import type { Store } from '../src/store/store.ts';
import { aJob, jobs } from './kit/builders.ts';
import {
  beat,
  cancel,
  claim,
  claimOne,
  FAILED,
  fail,
  forever,
  ids,
  register,
  report,
  retry,
  submit,
  submitOne,
  succeed,
} from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

async function found(store: Store, filter: JobFilter): Promise<number[]> {
  const listed = ids(await store.list(filter, { before: null, limit: 100 }, forever));
  assert.equal(await store.count(filter, 100, forever), listed.length, 'count and list agree');
  return listed;
}

function newest(wanted: readonly Job[]): number[] {
  return ids(wanted).reverse();
}

export function exerciseList(open: OpenStore): void {
  const test = withStore(open);

  test('read: returns the jobs that exist, in the order of the request', async ({ store }) => {
    const [a, b, c] = ids(await submit(store, jobs(3))) as [number, number, number];
    assert.deepEqual(ids(await store.read([c, 999_999, a, b], forever)), [c, a, b]);
    assert.deepEqual(await store.read([], forever), []);
  });

  test('list: pages go from the newest job to the oldest', async ({ store }) => {
    const all = ids(await submit(store, jobs(5))).reverse();
    assert.deepEqual(await found(store, {}), all);
    const first = ids(await store.list({}, { before: null, limit: 2 }, forever));
    assert.deepEqual(first, all.slice(0, 2));
    assert.deepEqual(ids(await store.list({}, { before: first[1] ?? 0, limit: 2 }, forever)), all.slice(2, 4));
    assert.deepEqual(ids(await store.list({}, { before: all[4] ?? 0, limit: 2 }, forever)), []);
  });

  test('list: a listed job equals the job that read returns, in every state', async ({ store }) => {
    await submit(store, [aJob({ delayMs: 60_000 }), aJob({ name: 'n', tags: ['x'] })]);
    await succeed(store, await claimOne(store, aJob({ priority: 9 })), { answer: 42 });
    await fail(store, await claimOne(store, aJob({ priority: 9 })));
    await fail(store, await claimOne(store, aJob({ priority: 9, maxAttempts: 1 })));
    await cancel(store, (await submitOne(store, aJob())).id);
    await cancel(store, (await claimOne(store, aJob({ priority: 9 }))).job.id);
    const listed = await store.list({}, { before: null, limit: 100 }, forever);
    assert.equal(listed.length, 7);
    assert.deepEqual(await store.read(ids(listed), forever), listed);
  });

  test('list: long fields are cut and named, and read returns all of them', async ({ store }) => {
    const long = 'ä😀'.repeat(5_000);
    const parents = ids(await submit(store, jobs(102)));
    const command = await submitOne(store, aJob({ command: `echo ${long}`, env: { LONG: long, SHORT: 'x' } }));
    const handler = await claimOne(
      store,
      aJob({ command: null, handler: 'h', input: { text: [long] }, priority: 9, maxAttempts: 1 }),
    );
    await succeed(store, handler, { text: long });
    const failed = await claimOne(store, aJob({ priority: 9, maxAttempts: 1 }));
    const thrown = { name: 'E', message: long, code: null, details: null, causes: [] };
    await report(store, failed, { ...FAILED, error: long, thrown });
    const child = await submitOne(
      store,
      aJob({ dependsOn: parents.map((jobId) => ({ jobId, condition: 'ended' as const })) }),
    );

    const listed = new Map((await store.list({}, { before: null, limit: 4 }, forever)).map((job) => [job.id, job]));
    const at = (id: number) => listed.get(id) as ListedJob;
    const cutAt = MAX_LISTED_LENGTH;
    assert.deepEqual(at(command.id).cut, ['command', 'env']);
    assert.equal(at(command.id).command, Array.from(`echo ${long}`).slice(0, cutAt).join(''));
    assert.deepEqual(at(command.id).env, {});
    assert.deepEqual(at(handler.job.id).cut, ['input', 'result']);
    assert.deepEqual([at(handler.job.id).input, at(handler.job.id).result], [null, null]);
    assert.deepEqual(at(failed.job.id).cut, ['error', 'thrown']);
    assert.equal(at(failed.job.id).error, Array.from(long).slice(0, cutAt).join(''));
    assert.equal(at(failed.job.id).thrown, null);
    assert.deepEqual(at(child.id).cut, ['depends_on']);
    assert.deepEqual(
      at(child.id).dependsOn.map(({ jobId }) => jobId),
      parents.slice(0, MAX_LISTED_PARENTS),
    );

    const whole = new Map((await store.read([...listed.keys()], forever)).map((job) => [job.id, job]));
    assert.equal(whole.get(command.id)?.command, `echo ${long}`);
    assert.deepEqual(whole.get(command.id)?.env, { LONG: long, SHORT: 'x' });
    assert.deepEqual(whole.get(handler.job.id)?.input, { text: [long] });
    assert.deepEqual(whole.get(handler.job.id)?.result, { text: long });
    assert.deepEqual([whole.get(failed.job.id)?.error, whole.get(failed.job.id)?.thrown], [long, thrown]);
    assert.equal(whole.get(child.id)?.dependsOn.length, parents.length);
    assert.ok([...whole.values()].every((job) => !('cut' in job)));
  });

  test('list: a long sealed input is left out, and nothing is cut, as no list shows it', async ({ store }) => {
    const long = 'a'.repeat(MAX_LISTED_LENGTH + 1);
    const sealed = (sealedInput: string) => aJob({ handler: 'h', sealInput: true, sealedInput });
    const [big, small] = ids(await submit(store, [sealed(long), sealed('k1:YQ==')]));
    const listed = await store.list({}, { before: null, limit: 2 }, forever);
    assert.deepEqual(
      listed.map(({ id, sealInput, sealedInput, cut }) => [id, sealInput, sealedInput, cut]),
      [
        [small, true, 'k1:YQ==', undefined],
        [big, true, null, undefined],
      ],
    );
    const [whole] = await store.read([big as number], forever);
    assert.equal(whole?.sealedInput, long);
    assert.deepEqual(await found(store, { text: 'a'.repeat(20) }), [], 'it cannot be searched');
  });

  test('list: what just fits is not cut', async ({ store }) => {
    const fits = '😀'.repeat(MAX_LISTED_LENGTH);
    const { id } = await submitOne(store, aJob({ command: fits, env: { SHORT: 'x' } }));
    const [job] = await store.list({}, { before: null, limit: 1 }, forever);
    assert.deepEqual([job], await store.read([id], forever));
    assert.equal(job?.command, fits);
  });

  test('list: filters by status', async ({ store }) => {
    const [pending, scheduled] = ids(await submit(store, [aJob(), aJob({ delayMs: 60_000 })]));
    const done = await claimOne(store, aJob({ priority: 9 }));
    await succeed(store, done);
    const failed = await claimOne(store, aJob({ priority: 9, maxAttempts: 1 }));
    await fail(store, failed);
    const running = await claimOne(store, aJob({ priority: 9 }));

    assert.deepEqual(await found(store, { statuses: ['pending'] }), [pending]);
    assert.deepEqual(await found(store, { statuses: ['running'] }), [running.job.id]);
    assert.deepEqual(await found(store, { statuses: ['done'] }), [done.job.id]);
    assert.deepEqual(await found(store, { statuses: ['failed', 'scheduled'] }), [failed.job.id, scheduled]);
    assert.deepEqual(await found(store, { statuses: ['skipped', 'blocked', 'cancelled'] }), []);
    assert.deepEqual(await found(store, { reason: 'exit' }), [failed.job.id]);
    assert.deepEqual(await found(store, { reason: 'timeout' }), []);
    assert.deepEqual(await found(store, { reason: 'exit', statuses: ['cancelled', 'failed'] }), [failed.job.id]);
    assert.deepEqual(await found(store, { reason: 'exit', statuses: ['pending', 'done'] }), []);
  });

  test('list: an empty list of values matches nothing', async ({ store }) => {
    await submit(store, jobs(2));
    assert.deepEqual(await found(store, { ids: [] }), []);
    assert.deepEqual(await found(store, { statuses: [] }), []);
    assert.equal((await found(store, { tags: [] })).length, 2, 'an empty list of tags is no condition');
  });

  test('list: filters by queue, name, tags, ids and worker', async ({ store }) => {
    const [a, b, c] = ids(
      await submit(store, [
        aJob({ queue: 'q', name: 'Report', tags: ['x', 'y'] }),
        aJob({ queue: 'q', name: 'report', tags: ['y'] }),
        aJob({ name: 'report of today', tags: ['z y'] }),
      ]),
    ) as [number, number, number];
    assert.deepEqual(await found(store, { queue: 'q' }), [b, a]);
    assert.deepEqual(await found(store, { name: 'report' }), [b]);
    assert.deepEqual(await found(store, { tags: ['y'] }), [b, a]);
    assert.deepEqual(await found(store, { tags: ['y', 'x'] }), [a]);
    assert.deepEqual(await found(store, { tags: ['z'] }), []);
    assert.deepEqual(await found(store, { ids: [a, c, 999_999] }), [c, a]);
    assert.deepEqual(await found(store, { queue: 'q', tags: ['y'], name: 'Report' }), [a]);
    assert.deepEqual(await found(store, { queue: 'default', tags: ['y'] }), []);

    const running = await claimOne(store, aJob({ priority: 9 }));
    const waiting = await claimOne(store, aJob({ priority: 9 }), running.workerId);
    const done = await claimOne(store, aJob({ priority: 9 }), running.workerId);
    await fail(store, waiting);
    await succeed(store, done);
    await claimOne(store, aJob({ priority: 9 }));
    const of = [done, waiting, running].map(({ job }) => job.id);
    assert.deepEqual(
      await found(store, { workerId: running.workerId }),
      of,
      'the worker of the current or last attempt',
    );
  });

  test('list: filters by creation time', async ({ store, advance }) => {
    const a = await submitOne(store, aJob());
    await advance(10_000);
    const b = await submitOne(store, aJob({ delayMs: 60_000 }));
    await advance(10_000);
    const c = await submitOne(store, aJob());
    assert.deepEqual(await found(store, { createdFrom: b.createdAt }), [c.id, b.id]);
    assert.deepEqual(await found(store, { createdTo: b.createdAt }), [a.id]);
    assert.deepEqual(await found(store, { createdFrom: a.createdAt + 1, createdTo: c.createdAt }), [b.id]);
  });

  test('list: filters by creation time over days, combined with any other filter', async ({ store, advance }) => {
    const created: Job[] = [];
    for (let day = 0; day < 6; day += 1) {
      created.push(...(await submit(store, jobs(2, { queue: `q${day % 2}` }))));
      await advance(86_400_000);
    }
    const cancelled = created.filter((_, place) => place % 3 === 0).map(({ id }) => id);
    await Promise.all(cancelled.map((id) => cancel(store, id)));
    const instants = created.flatMap(({ createdAt }) => [createdAt - 1, createdAt, createdAt + 1]);
    for (const createdFrom of instants) {
      assert.deepEqual(
        await found(store, { createdFrom }),
        newest(created.filter((job) => job.createdAt >= createdFrom)),
      );
    }
    for (const createdTo of instants) {
      assert.deepEqual(await found(store, { createdTo }), newest(created.filter((job) => job.createdAt < createdTo)));
    }
    const [from, to] = [created[2]?.createdAt ?? 0, created[10]?.createdAt ?? 0];
    const within = created.filter(({ createdAt }) => createdAt >= from && createdAt < to);
    const times = { createdFrom: from, createdTo: to };
    const isCancelled = ({ id }: Job) => cancelled.includes(id);
    assert.deepEqual(await found(store, { ...times, statuses: ['cancelled'] }), newest(within.filter(isCancelled)));
    assert.deepEqual(
      await found(store, { ...times, statuses: ['pending'] }),
      newest(within.filter((job) => !isCancelled(job))),
    );
    assert.deepEqual(await found(store, { ...times, queue: 'q1' }), newest(within.filter((job) => job.queue === 'q1')));
    const page = await store.list(times, { before: created[6]?.id ?? 0, limit: 2 }, forever);
    assert.deepEqual(ids(page), [created[5]?.id, created[4]?.id]);
  });

  test('list: filters by worker and reason behind many newer jobs of others', async ({ store, advance }) => {
    const { id: workerId } = await register(store);
    const mine = ids(await submit(store, jobs(4, { maxAttempts: 1 })));
    const [done, failed, running] = await claim(store, workerId, { limit: 3 });
    assert.ok(done && failed && running);
    await succeed(store, { job: done, workerId });
    await fail(store, { job: failed, workerId });
    await cancel(store, mine[3] ?? 0);
    await beat(store, workerId, [{ job: running, workerId }]);
    for (let day = 0; day < 3; day += 1) {
      await advance(86_400_000);
      await submit(store, jobs(2));
      await succeed(store, await claimOne(store));
      await fail(store, await claimOne(store));
    }
    assert.deepEqual(await found(store, { workerId }), mine.slice(0, 3).reverse());
    await store.leaveWorker(workerId, forever);
    assert.deepEqual(await found(store, { workerId }), mine.slice(0, 3).reverse());
    assert.deepEqual(await found(store, { workerId, reason: 'exit' }), [failed.id]);
    assert.deepEqual(await found(store, { workerId, statuses: ['running', 'done'] }), [running.id, done.id]);
    assert.deepEqual(await found(store, { reason: 'cancelled' }), [mine[3]]);
    assert.deepEqual(await found(store, { reason: 'cancelled', statuses: ['done'] }), []);
  });

  test('list: filters by who submitted the job', async ({ store }) => {
    const names = ['ada', 'ada lovelace', 'a "quoted" name', 'Ünal', null];
    const [ada, lovelace, quoted, foreign, nobody] = ids(
      await submit(
        store,
        // The name elsewhere in the job does not count.
        names.map((submittedBy) => aJob({ submittedBy, name: 'ada', tags: ['ada'], command: 'echo "ada"' })),
      ),
    );
    const ended = await claimOne(store, aJob({ priority: 9, submittedBy: 'ada', env: { submitted_by: 'eve' } }));
    await succeed(store, ended);
    assert.deepEqual(await found(store, { submittedBy: 'ada' }), [ended.job.id, ada]);
    assert.deepEqual(await found(store, { submittedBy: 'ada', statuses: ['done'] }), [ended.job.id]);
    assert.deepEqual(await found(store, { submittedBy: 'ada', statuses: ['pending'], name: 'ada' }), [ada]);
    assert.deepEqual(await found(store, { submittedBy: 'ada', newest: 1 }), [ended.job.id]);
    assert.deepEqual(await found(store, { submittedBy: 'ada lovelace' }), [lovelace]);
    assert.deepEqual(await found(store, { submittedBy: 'a "quoted" name' }), [quoted]);
    assert.deepEqual(await found(store, { submittedBy: 'Ünal' }), [foreign]);
    assert.deepEqual(await found(store, { submittedBy: 'ünal' }), []);
    assert.deepEqual(await found(store, { submittedBy: 'eve' }), []);
    assert.equal(await store.count({ submittedBy: 'ada' }, 10, forever), 2);
    assert.equal((await found(store, {})).includes(nobody ?? 0), true);
  });

  test('list: a job belongs to the worker of its latest attempt, whatever its status', async ({ store }) => {
    const [mine, other] = [await register(store), await register(store)];
    const backoff = { ...aJob().backoff, type: 'none' as const };
    const of = async (...attempts: readonly number[]): Promise<number> => {
      const { id } = await submitOne(store, aJob({ priority: 9, backoff, maxAttempts: 9 }));
      for (const workerId of attempts) {
        const [job] = await claim(store, workerId, { limit: 1 });
        assert.equal(job?.id, id);
        await fail(store, { job, workerId });
      }
      await store.edit(id, { priority: 0 }, forever);
      return id;
    };
    const waiting = await of(mine.id, mine.id);
    const taken = await of(mine.id, other.id);
    const back = await of(other.id, mine.id);
    const again = await of(mine.id);
    await store.edit(again, { priority: 9 }, forever);
    const [running] = await claim(store, mine.id, { limit: 1 });
    assert.equal(running?.id, again);
    const cancelled = await of(mine.id);
    await cancel(store, cancelled);
    const reopened = await of(mine.id);
    await cancel(store, reopened);
    await retry(store, reopened);
    const returned = await claimOne(store, aJob({ priority: 9 }), mine.id);
    await report(store, returned, { type: 'returned' });

    const all = [waiting, back, again, cancelled, reopened, returned.job.id];
    const isMine = { workerId: mine.id };
    assert.deepEqual(await found(store, isMine), all.toReversed());
    assert.deepEqual(await found(store, { workerId: other.id }), [taken]);
    assert.deepEqual(await found(store, { ...isMine, queue: 'default' }), all.toReversed());
    assert.deepEqual(await found(store, { ...isMine, ids: [taken, again] }), [again]);
    assert.deepEqual(await found(store, { ...isMine, error: 'exit 7' }), [reopened, again, back, waiting]);
    assert.deepEqual(await found(store, { ...isMine, statuses: ['running'] }), [again]);
    assert.deepEqual(await found(store, { ...isMine, statuses: ['cancelled', 'done'] }), [cancelled]);
    assert.deepEqual(ids(await store.list(isMine, { before: cancelled, limit: 2 }, forever)), [again, back]);
  });

  test('list: finds text in name, command or error, ignoring case and without wildcards', async ({ store }) => {
    const [byName, byCommand] = ids(
      await submit(store, [
        aJob({ name: 'Nightly Report', command: 'true' }),
        aJob({ command: 'echo "100%_done" \\n' }),
      ]),
    );
    const failed = await claimOne(store, aJob({ priority: 9, maxAttempts: 1, command: 'x' }));
    await report(store, failed, { type: 'failed', exitCode: 1, signal: null, error: 'exit 1\nno such FILE' });
    const retrying = await claimOne(store, aJob({ priority: 9, command: 'x' }));
    await fail(store, retrying);

    assert.deepEqual(await found(store, { text: 'nightly rep' }), [byName]);
    assert.deepEqual(await found(store, { text: 'ECHO' }), [byCommand]);
    assert.deepEqual(await found(store, { text: 'such file' }), [failed.job.id]);
    assert.deepEqual(await found(store, { text: 'exit 7' }), [retrying.job.id]);
    assert.deepEqual(await found(store, { text: '%_' }), [byCommand]);
    assert.deepEqual(await found(store, { text: '100%done' }), []);
    assert.deepEqual(await found(store, { text: 'n_ghtly' }), []);
    assert.deepEqual(await found(store, { text: '\\n' }), [byCommand]);
    assert.deepEqual(await found(store, { text: `'; --` }), []);
  });

  test('list: finds text in the error alone', async ({ store }) => {
    const [pending] = ids(await submit(store, [aJob({ name: 'such file', command: 'echo such file' })]));
    const failed = await claimOne(store, aJob({ priority: 9, maxAttempts: 1, command: 'x' }));
    await report(store, failed, { type: 'failed', exitCode: 1, signal: null, error: 'exit 1\nno such FILE: Ä%' });
    const retrying = await claimOne(store, aJob({ priority: 9, command: 'x' }));
    await fail(store, retrying);

    assert.deepEqual(await found(store, { error: 'SUCH file' }), [failed.job.id]);
    assert.deepEqual(await found(store, { error: 'ä%' }), [failed.job.id]);
    assert.deepEqual(await found(store, { error: 'exit%' }), []);
    assert.deepEqual(await found(store, { error: 'exit' }), [retrying.job.id, failed.job.id]);
    assert.deepEqual(await found(store, { error: 'exit', statuses: ['failed'] }), [failed.job.id]);
    assert.deepEqual(await found(store, { error: 'exit', statuses: ['scheduled', 'done'] }), [retrying.job.id]);
    assert.deepEqual(await found(store, { error: 'such', newest: 1 }), []);
    assert.deepEqual(await found(store, { error: 'exit', text: 'no such' }), [failed.job.id]);
    assert.deepEqual(await found(store, { text: 'such file', statuses: ['pending'] }), [pending]);
  });

  test('list: does not look for text in the input of a webhook, which is not for readers', async ({ store }) => {
    const input = { url: 'https://hooks.example/part', body: '{}', signature: 'SHA' };
    const [webhook, other] = ids(
      await submit(store, [
        aJob({ command: null, handler: WEBHOOK_HANDLER, input, name: 'notify failed' }),
        aJob({ command: null, handler: 'h', input }),
      ]),
    );
    assert.deepEqual(await found(store, { text: 'hooks.example/PART' }), [other]);
    assert.deepEqual(await found(store, { text: 'notify fai' }), [webhook]);
    assert.deepEqual(await found(store, { text: 'hooks.example/part', statuses: ['pending'] }), [other]);
  });

  test('list: finds text ignoring case in any alphabet', async ({ store }) => {
    const [french, russian, german, greek] = ids(
      await submit(store, [
        aJob({ name: 'CAFÉ à la carte' }),
        aJob({ command: 'echo Жук' }),
        aJob({ name: 'Straße' }),
        aJob({ command: null, handler: 'h', input: { who: 'ΔΈΛΤΑ' } }),
      ]),
    );
    assert.deepEqual(await found(store, { text: 'café À' }), [french]);
    assert.deepEqual(await found(store, { text: 'cafe' }), []);
    assert.deepEqual(await found(store, { text: 'жУК' }), [russian]);
    assert.deepEqual(await found(store, { text: 'STRAẞE' }), [german]);
    assert.deepEqual(await found(store, { text: 'strasse' }), []);
    assert.deepEqual(await found(store, { text: 'δέλτ' }), [greek]);
  });

  test('list: finds text in the input, ignoring spaces', async ({ store }) => {
    const [a, b] = ids(
      await submit(store, [
        aJob({ command: null, handler: 'mail', input: { to: 'Ana Maria', lines: [1, 22] } }),
        aJob({ command: null, handler: 'mail', input: ['bob', { deep: 'Anaconda' }] }),
      ]),
    );
    assert.deepEqual(await found(store, { text: 'ana' }), [b, a]);
    assert.deepEqual(await found(store, { text: 'ana maria' }), [a]);
    assert.deepEqual(await found(store, { text: '[1, 22]' }), [a]);
    assert.deepEqual(await found(store, { text: '"deep": "anaconda"' }), [b]);
    assert.deepEqual(await found(store, { text: 'null' }), []);
  });

  test('list: finds text that JSON escapes, and text of the current error', async ({ store }) => {
    const [quoted, item] = ids(
      await submit(store, [
        aJob({ command: 'printf "a\tb"\necho C:\\temp' }),
        aJob({ command: null, handler: 'h', input: { note: 'two\nlines' } }),
      ]),
    );
    assert.deepEqual(await found(store, { text: '"A\tB"\nECHO' }), [quoted]);
    assert.deepEqual(await found(store, { text: 'c:\\temp' }), [quoted]);
    assert.deepEqual(await found(store, { text: 'lines"}' }), [item]);
    assert.deepEqual(await found(store, { text: ' ' }), [item, quoted]);

    const mended = await claimOne(
      store,
      aJob({ priority: 9, command: 'x', backoff: { ...DEFAULT_SPEC.backoff, type: 'none' } }),
    );
    await fail(store, mended);
    assert.deepEqual(await found(store, { text: 'exit 7' }), [mended.job.id]);
    await succeed(store, await claimOne(store));
    assert.deepEqual(await found(store, { text: 'exit 7' }), [], 'the error of an earlier attempt is not found');
  });

  test('list: filters by parent, in every state of the children', async ({ store }) => {
    const [parent, other] = ids(await submit(store, jobs(2))) as [number, number];
    const on = (jobId: number) => ({ jobId, condition: 'success' as const });
    const [first, second] = ids(
      await submit(store, [aJob({ dependsOn: [on(parent)] }), aJob({ dependsOn: [on(parent), on(other)] })]),
    );
    assert.deepEqual(await found(store, { parentId: parent }), [second, first]);
    assert.deepEqual(await found(store, { parentId: other }), [second]);
    await cancel(store, first as number);
    assert.deepEqual(await found(store, { parentId: parent, statuses: ['blocked'] }), [second]);
    assert.deepEqual(await found(store, { parentId: parent, statuses: ['cancelled'] }), [first]);
    assert.deepEqual(await found(store, { parentId: second as number }), []);
  });

  test('list: newest limits the search to that many of the newest ids', async ({ store }) => {
    const all = ids(await submit(store, jobs(5))).reverse();
    assert.deepEqual(await found(store, { newest: 2 }), all.slice(0, 2));
    assert.deepEqual(await found(store, { newest: 2, statuses: ['pending'] }), all.slice(0, 2));
    assert.deepEqual(await found(store, { newest: 99 }), all);
    assert.deepEqual(await found(store, { newest: 2, text: 'true' }), all.slice(0, 2));
    assert.deepEqual(await found(store, { newest: 2, text: 'true', statuses: ['pending'] }), all.slice(0, 2));
    const page = await store.list({ newest: 3 }, { before: all[1] as number, limit: 9 }, forever);
    assert.deepEqual(ids(page), all.slice(2, 3));
  });

  test('count: stops at the given limit', async ({ store }) => {
    await submit(store, jobs(5));
    assert.equal(await store.count({}, 3, forever), 3);
    assert.equal(await store.count({ statuses: ['pending'] }, 5, forever), 5);
    assert.equal(await store.count({ statuses: ['pending', 'done'] }, 9, forever), 5);
    assert.equal(await store.count({}, 0, forever), 0);
  });

  test('attempts: a job that does not exist or never ran has none', async ({ store }) => {
    assert.deepEqual(await store.attempts(999_999, forever), []);
    const lease = await claimOne(store, aJob());
    assert.deepEqual(await store.attempts(lease.job.id, forever), [], 'the running attempt has not ended');
  });
}
