/** Checkpoints that running attempts store. */

import assert from 'node:assert/strict';
import type { CheckpointPiece } from '../src/core/checkpoint.ts';
import type { Store } from '../src/store/store.ts';
import { aJob } from './kit/builders.ts';
import { claimOne, fail, forever, type Lease, loseLeases, readOne, register, retry, succeed } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

type Piece = Pick<CheckpointPiece, 'upload' | 'offset' | 'complete'> & { text: string };

function write(store: Store, { job, workerId }: Lease, { text, ...piece }: Piece) {
  const data = Buffer.from(text);
  return store.writeCheckpoint({ jobId: job.id, attempt: job.attempt, workerId, ...piece, data }, forever);
}

/** Stores a checkpoint of one piece. */
function save(store: Store, lease: Lease, upload: number, text: string) {
  return write(store, lease, { upload, offset: 0, text, complete: { kind: 'bytes' } });
}

/** Returns the text of the complete checkpoint, read piece by piece; `null` for none. */
async function textOf(store: Store, jobId: number): Promise<string | null> {
  const stored = await store.checkpoint(jobId, forever);
  if (stored === null) return null;
  const pieces: Uint8Array[] = [];
  for (let offset = 0; offset < stored.bytes; offset += pieces.at(-1)?.length ?? 0) {
    const piece = await store.readCheckpoint({ jobId, upload: stored.upload, offset }, forever);
    pieces.push(piece ?? assert.fail(`there is no piece at ${offset}`));
  }
  return Buffer.concat(pieces).toString();
}

export function exerciseCheckpoints(open: OpenStore): void {
  const test = withStore(open);

  test('checkpoint: it is described on the job, and stays for the next attempt, after a retry and until it is pruned', async ({
    store,
    advance,
  }) => {
    const first = await claimOne(store, aJob({ maxAttempts: 1 }));
    const { id } = first.job;
    assert.equal(await store.checkpoint(id, forever), null);
    assert.equal((await readOne(store, id)).checkpoint, null);
    const writtenAt = await store.now(forever);
    assert.equal(await save(store, first, 1, 'step 1'), 'ok');
    const { checkpoint } = await readOne(store, id);
    assert.deepEqual([checkpoint?.kind, checkpoint?.bytes, checkpoint?.attempt], ['bytes', 6, 1]);
    assert.ok(Math.abs((checkpoint?.writtenAt ?? 0) - writtenAt) < 60_000);
    await store.report(
      [{ jobId: id, attempt: 1, workerId: first.workerId, progress: { fraction: 1, text: null } }],
      forever,
    );
    await fail(store, first);
    await retry(store, id);
    const second = await claimOne(store);
    assert.equal(await textOf(store, id), 'step 1', 'progress and a retry do not change it');
    assert.deepEqual((await readOne(store, id)).progress, null, 'that is of the attempt before');
    assert.equal(await write(store, second, { upload: 2, offset: 0, text: '{}', complete: { kind: 'json' } }), 'ok');
    const [listed] = await store.list({}, { before: null, limit: 1 }, forever);
    assert.deepEqual([listed?.checkpoint?.kind, listed?.checkpoint?.attempt], ['json', 2]);
    await succeed(store, second);
    await advance(10_000);
    assert.equal(await store.prune({ doneMs: 1_000, otherMs: 1_000, statsMs: 1_000 }, 10, forever), 1);
    assert.equal(await store.checkpoint(id, forever), null);
    assert.equal(await store.readCheckpoint({ jobId: id, upload: 2, offset: 0 }, forever), null);
  });

  test('checkpoint: pieces of an upload that is not complete are never seen, and the one before stays whole', async ({
    store,
  }) => {
    const lease = await claimOne(store, aJob());
    const { id } = lease.job;
    await save(store, lease, 1, 'whole');
    assert.equal(await write(store, lease, { upload: 2, offset: 0, text: 'abc', complete: null }), 'ok');
    assert.equal(await textOf(store, id), 'whole');
    assert.equal(await store.readCheckpoint({ jobId: id, upload: 2, offset: 0 }, forever), null);
    const last = { upload: 2, offset: 3, text: 'def', complete: { kind: 'bytes' } } as const;
    assert.equal(await write(store, lease, last), 'ok');
    assert.equal(await textOf(store, id), 'abcdef');
    assert.equal(await write(store, lease, last), 'ok', 'an answer that was lost is given again');
    assert.equal(await textOf(store, id), 'abcdef');
    assert.equal(await store.readCheckpoint({ jobId: id, upload: 1, offset: 0 }, forever), null, 'it was replaced');
  });

  test('checkpoint: a new upload drops one that was broken off, which can no longer be completed', async ({
    store,
  }) => {
    const lease = await claimOne(store, aJob());
    const { id } = lease.job;
    await save(store, lease, 1, 'whole');
    await write(store, lease, { upload: 2, offset: 0, text: 'abc', complete: null });
    await write(store, lease, { upload: 3, offset: 0, text: 'xyz', complete: null });
    const late = { upload: 2, offset: 3, text: 'def', complete: { kind: 'bytes' } } as const;
    assert.equal(await write(store, lease, late), 'incomplete');
    assert.equal(await textOf(store, id), 'whole');
    assert.equal(await write(store, lease, { ...late, upload: 3, text: '!' }), 'ok');
    assert.equal(await textOf(store, id), 'xyz!');
  });

  test('checkpoint: only the worker that holds the attempt can write one', async ({ store, advance }) => {
    const first = await claimOne(store, aJob());
    const { id } = first.job;
    await save(store, first, 1, 'first');
    await write(store, first, { upload: 2, offset: 0, text: 'abc', complete: null });
    await loseLeases(store, advance);
    const second = await claimOne(store);
    const late = { upload: 2, offset: 3, text: 'def', complete: { kind: 'bytes' } } as const;
    assert.equal(await write(store, first, late), 'lease_lost');
    assert.equal(await save(store, { ...second, workerId: (await register(store)).id }, 4, 'stranger'), 'lease_lost');
    assert.equal(await textOf(store, id), 'first');
    assert.equal(await save(store, second, 5, 'second'), 'ok');
    assert.equal(await save(store, first, 6, 'late'), 'lease_lost');
    await succeed(store, second);
    assert.equal(await save(store, second, 7, 'after the end'), 'lease_lost');
    assert.equal(await textOf(store, id), 'second');
    assert.equal((await readOne(store, id)).checkpoint?.attempt, second.job.attempt);
  });

  test('checkpoint: an empty one is one, and an unknown job has none', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    assert.equal(await save(store, lease, 1, ''), 'ok');
    assert.equal(await textOf(store, lease.job.id), '');
    assert.equal(await store.checkpoint(999_999, forever), null);
    assert.equal(await store.readCheckpoint({ jobId: 999_999, upload: 1, offset: 0 }, forever), null);
  });

  test('checkpoint: uploads that end at the same time leave one of them, whole', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    const lettersOf = (number: number) => String.fromCharCode(97 + number).repeat(4);
    const upload = async (number: number) => {
      const text = lettersOf(number);
      for (const offset of [0, 4, 8]) {
        const complete = offset === 8 ? ({ kind: 'bytes' } as const) : null;
        if ((await write(store, lease, { upload: number, offset, text, complete })) !== 'ok') return false;
      }
      return true;
    };
    for (let round = 0; round < 5; round += 1) {
      const numbers = [1, 2, 3, 4].map((number) => round * 4 + number);
      const ended = await Promise.all(numbers.map(upload));
      assert.ok(ended.includes(true), 'the last one that began ends');
      const text = (await textOf(store, lease.job.id)) ?? '';
      assert.ok(
        numbers.some((number) => text === lettersOf(number).repeat(3)),
        text,
      );
    }
  });
}
