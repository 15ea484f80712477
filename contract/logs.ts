import assert from 'node:assert/strict';
import { LOG_HALF_BYTES, type LogChunk, type LogPiece } from '../src/core/output.ts';
import type { Store } from '../src/store/store.ts';
import { aJob } from './kit/builders.ts';
import { cancel, claimOne, fail, forever, type Lease, loseLeases, register, succeed } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const CHUNK_BYTES = 256 * 1024;

function chunk({ job, workerId }: Lease, offset: number, data: string | Uint8Array): LogChunk {
  return { jobId: job.id, attempt: job.attempt, workerId, offset, data: Buffer.from(data) };
}

function logOf(store: Store, lease: Lease, from = 0, maxBytes = 1_000_000): Promise<LogPiece[]> {
  return store.readLog({ jobId: lease.job.id, attempt: lease.job.attempt, from, maxBytes }, forever);
}

function textOf(pieces: readonly LogPiece[]): string {
  return Buffer.concat(pieces.map(({ data }) => data)).toString();
}

export function exerciseLogs(open: OpenStore): void {
  const test = withStore(open);

  test('logs: written chunks are read back by offset, byte for byte', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    const odd = Buffer.from([0, 255, 254, 10, 13, 0, 195]);
    const answers = await store.appendLogs([chunk(lease, 6, odd), chunk(lease, 0, 'hello\n')], forever);
    assert.deepEqual(answers, [true, true]);
    const pieces = await logOf(store, lease);
    assert.deepEqual(
      pieces.map(({ offset, data }) => [offset, [...data]]),
      [
        [0, [...Buffer.from('hello\n')]],
        [6, [...odd]],
      ],
    );
  });

  test('logs: a chunk that is written twice at the same offset is stored once', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    await store.appendLogs([chunk(lease, 0, 'one '), chunk(lease, 0, 'one ')], forever);
    await store.appendLogs([chunk(lease, 0, 'uno '), chunk(lease, 4, 'two')], forever);
    assert.equal(textOf(await logOf(store, lease)), 'one two');
  });

  test('logs: each chunk has the time at which it first came', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    const before = await store.now(forever);
    await store.appendLogs([chunk(lease, 0, 'early')], forever);
    await advance(10_000);
    await store.appendLogs([chunk(lease, 0, 'again'), chunk(lease, 5, 'late')], forever);
    const after = await store.now(forever);
    const [early, late] = (await logOf(store, lease)).map(({ receivedAt }) => receivedAt);
    assert.ok(early !== undefined && early >= before && early < before + 10_000, `${early} after ${before}`);
    assert.ok(late !== undefined && late >= before + 10_000 && late <= after, `${late} before ${after}`);
  });

  test('logs: only the worker that holds the attempt can write to it', async ({ store, advance }) => {
    const first = await claimOne(store, aJob());
    await loseLeases(store, advance);
    const second = await claimOne(store);
    const stranger = await register(store);
    const answers = await store.appendLogs(
      [
        chunk(first, 0, 'late'),
        chunk(second, 0, 'now'),
        chunk({ ...second, workerId: stranger.id }, 3, 'stranger'),
        { ...chunk(second, 3, 'future'), attempt: 3 },
        { ...chunk(second, 0, 'nowhere'), jobId: 999_999 },
        chunk(second, 3, '!'),
      ],
      forever,
    );
    assert.deepEqual(answers, [false, true, false, false, false, true]);
    assert.deepEqual(await logOf(store, first), []);
    assert.equal(textOf(await logOf(store, second)), 'now!');
    assert.deepEqual(await store.appendLogs([], forever), []);
  });

  test('logs: a job with a cancel request can still write, an ended job cannot', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    await cancel(store, lease.job.id);
    assert.deepEqual(await store.appendLogs([chunk(lease, 0, 'stopping')], forever), [true]);
    await succeed(store, lease);
    assert.deepEqual(await store.appendLogs([chunk(lease, 8, ' late')], forever), [false]);
    assert.equal(textOf(await logOf(store, lease)), 'stopping');
  });

  test('logs: an attempt that has completed its job can still write, as long as nobody else could have', async ({
    store,
    advance,
  }) => {
    const completed = (lease: Lease, offset: number, data: string) => ({
      ...chunk(lease, offset, data),
      completed: true,
    });
    const done = await claimOne(store, aJob());
    const failed = await claimOne(store, aJob({ maxAttempts: 1 }));
    const lost = await claimOne(store, aJob());
    assert.deepEqual(await store.appendLogs([completed(done, 0, 'before ')], forever), [true], 'not committed yet');
    await succeed(store, done);
    await fail(store, failed);
    const stranger = await register(store);
    const answers = await store.appendLogs(
      [
        completed({ ...done, workerId: stranger.id }, 7, 'stranger'),
        { ...completed(done, 7, 'future'), attempt: 2 },
        chunk(done, 7, 'late'),
        completed(done, 7, 'after'),
        completed(failed, 0, 'late'),
        completed(lost, 0, 'running'),
      ],
      forever,
    );
    assert.deepEqual(answers, [false, false, false, true, false, true]);
    assert.equal(textOf(await logOf(store, done)), 'before after');
    assert.deepEqual(await logOf(store, failed), []);
    await loseLeases(store, advance);
    const second = await claimOne(store);
    assert.equal(second.job.id, lost.job.id);
    await succeed(store, second);
    assert.deepEqual(await store.appendLogs([completed(lost, 7, 'late')], forever), [false]);
  });

  test('logs: each attempt has its own log', async ({ store, advance }) => {
    const first = await claimOne(store, aJob());
    await store.appendLogs([chunk(first, 0, 'first')], forever);
    await fail(store, first);
    await advance(60_000);
    await store.promote(10, forever);
    const second = await claimOne(store);
    await store.appendLogs([chunk(second, 0, 'second')], forever);
    assert.equal(textOf(await logOf(store, first)), 'first');
    assert.equal(textOf(await logOf(store, second)), 'second');
  });

  test('logs: reading continues from an offset, in pieces of about the requested size', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    const lines = ['aaaa', 'bbbb', 'cccc', 'dddd'];
    await store.appendLogs(
      lines.map((line, index) => chunk(lease, index * 4, line)),
      forever,
    );
    assert.equal(textOf(await logOf(store, lease, 4)), 'bbbbccccdddd');
    assert.equal(
      textOf(await logOf(store, lease, 5)),
      'bbbbccccdddd',
      'a chunk that exceeds the size is returned whole',
    );
    assert.deepEqual(await logOf(store, lease, 16), []);
    assert.equal(textOf(await logOf(store, lease, 0, 8)), 'aaaabbbb');
    assert.equal(textOf(await logOf(store, lease, 0, 1)), 'aaaa', 'at least one chunk is returned');
    assert.deepEqual(await logOf(store, { ...lease, job: { ...lease.job, attempt: 2 } }), []);
  });

  test('logs: the first and the last part of a long output are kept', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    const count = 52;
    for (let index = 0; index < count; index += 4) {
      const group = [0, 1, 2, 3].map((i) =>
        chunk(lease, (index + i) * CHUNK_BYTES, new Uint8Array(CHUNK_BYTES).fill(index + i)),
      );
      assert.deepEqual(await store.appendLogs(group, forever), [true, true, true, true]);
    }
    const pieces = await logOf(store, lease, 0, Number.MAX_SAFE_INTEGER);
    const kept = pieces.map(({ offset }) => offset / CHUNK_BYTES);
    const half = LOG_HALF_BYTES / CHUNK_BYTES;
    const wanted = Array.from({ length: count }, (_, i) => i).filter((i) => i < half || i >= count - half);
    assert.deepEqual(
      wanted.filter((index) => !kept.includes(index)),
      [],
      'both halves are complete',
    );
    assert.ok(kept.length <= wanted.length + 2, `${kept.length} chunks kept`);
    for (const { offset, data } of pieces) assert.equal(data[CHUNK_BYTES - 1], offset / CHUNK_BYTES);
  });
}
