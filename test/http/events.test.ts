import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { aJob } from '../../contract/kit/builders.ts';
import { openTestMemory } from '../../contract/kit/memory.ts';
import { forever } from '../../contract/kit/steps.ts';
import type { OpenStore } from '../../contract/kit/store.ts';
import type { Event, EventTopic } from '../../src/api/event.ts';
import { readEvents, type StreamEvent } from '../../src/api/event-stream.ts';
import { EventHub } from '../../src/http/event-hub.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import type { Scheduler } from '../../src/scheduler/scheduler.ts';
import { openSqlite } from '../../src/store/sqlite/base/open.ts';
import { claimOverHttp, openTestServer } from '../kit/http.ts';
import { openEmptiedPostgres } from '../kit/postgres.ts';
import { openEmptiedSqlite } from '../kit/sqlite.ts';
import { temporaryFolder } from '../kit/workron-process.ts';

const STORES: [string, OpenStore][] = [
  ['memory', openTestMemory],
  ['sqlite', openEmptiedSqlite],
  ['postgres', () => openEmptiedPostgres()],
];

class Listener implements AsyncDisposable {
  readonly #abort: AbortController;
  readonly #events: AsyncGenerator<StreamEvent>;

  private constructor(response: Response, abort: AbortController) {
    this.#abort = abort;
    this.#events = readEvents(response.body!.pipeThrough(new TextDecoderStream()));
  }

  static async open(url: string, lastEventId = ''): Promise<Listener> {
    const abort = new AbortController();
    const headers = { accept: 'text/event-stream', 'last-event-id': lastEventId };
    return new Listener(await fetch(`${url}/events`, { headers, signal: abort.signal }), abort);
  }

  /** `undefined` at the end. */
  async next(): Promise<StreamEvent | undefined> {
    return (await this.#events.next()).value as StreamEvent | undefined;
  }

  /** The next event of this topic. */
  async about(topic: EventTopic): Promise<Event> {
    for (;;) {
      const event = JSON.parse((await this.next())?.data ?? '') as Event;
      if (event.topic === topic) return event;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
  }
}

test('events: a change is sent with its topic and ids', async () => {
  await using server = await openTestServer();
  await using listener = await Listener.open(server.url);
  const { body: job } = await server.call('POST', '/jobs', { command: 'a' });
  assert.deepEqual(await listener.about('jobs'), { topic: 'jobs', ids: [job.id] });
  await server.call('POST', '/workers/register', { name: 'w' });
  await server.call('POST', '/workers/1/drain');
  assert.deepEqual(await listener.about('workers'), { topic: 'workers', ids: ['1'] });
});

test('events: a burst is a few events, without ids where they are too many', async () => {
  await using server = await openTestServer();
  await using listener = await Listener.open(server.url);
  const signal = AbortSignal.timeout(60_000);
  await Promise.all(Array.from({ length: 3 }, () => server.scheduler.submit([aJob()], {}, signal)));
  for (let i = 0; i < 300; i += 1) await server.scheduler.submit([aJob()], {}, signal);
  const first = await listener.about('jobs');
  assert.ok(first.ids !== undefined && first.ids.length <= 3);
  let told = first;
  let events = 1;
  while (told.ids !== undefined && !told.ids.includes('303')) {
    told = await listener.about('jobs');
    events += 1;
  }
  assert.ok(events < 30, `${events} events for 303 changes`);
});

test('events: who comes back gets what was missed; after a gap or elsewhere, reset', async () => {
  await using server = await openTestServer();
  let last: string;
  {
    await using listener = await Listener.open(server.url);
    await server.call('POST', '/jobs', { command: 'a' });
    const event = await listener.next();
    assert.match(event?.id ?? '', /^test-\d+$/);
    last = event?.id as string;
  }
  await server.call('POST', '/jobs', { command: 'b' });
  {
    await using again = await Listener.open(server.url, last);
    const event = await again.next();
    assert.notEqual(event?.event, 'reset');
    assert.ok(Number(event?.id?.split('-')[1]) > Number(last.split('-')[1]));
  }
  for (const elsewhere of ['other-1', 'test-99999', 'test-x', 'nonsense']) {
    await using stranger = await Listener.open(server.url, elsewhere);
    assert.equal((await stranger.next())?.event, 'reset', elsewhere);
  }
});

test('events: after a gap too long to fill, reset', async (t) => {
  await using server = await openTestServer();
  const hub = new EventHub(server.scheduler);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const tell = async (times: number) => {
    for (let i = 0; i < times; i += 1) {
      await server.scheduler.submit([aJob()], {}, forever);
      t.mock.timers.tick(250);
    }
  };
  await tell(10);
  await using near = hub.stream('test-5', forever);
  assert.doesNotMatch((await near.next()).value as string, /reset/);
  await tell(600);
  await using far = hub.stream('test-5', forever);
  assert.match((await far.next()).value as string, /^event: reset\nid: test-\d+\ndata: \{\}$/m);
  t.mock.timers.reset();
  hub.close();
});

for (const [name, open] of STORES) {
  test(`events: ${name}: listeners get the number of unfinished jobs`, async () => {
    await using opened = await open();
    await using server = await openTestServer({ store: opened.store });
    await using listener = await Listener.open(server.url);
    const counted = async (wanted: Event['counts']) => {
      while (!isDeepStrictEqual((await listener.about('queues')).counts, wanted));
    };
    const waiting = { blocked: 1, scheduled: 1, pending: 1, running: 0 };
    const { body: parent } = await server.call('POST', '/jobs', { command: 'a' });
    await server.call('POST', '/jobs', { command: 'b', queue: 'other', delay: '1h' });
    await server.call('POST', '/jobs', { command: 'c', depends_on: [parent.id] });
    await counted(waiting);
    const { worker, id, attempt } = await claimOverHttp(server);
    await counted({ ...waiting, pending: 0, running: 1 });
    await server.call('POST', `/jobs/${id}/done`, { worker_id: worker, attempt });
    await counted({ blocked: 0, scheduled: 1, pending: 1, running: 0 });
  });
}

test('events: nothing is counted without listeners, and a new listener gets the counts at once', async () => {
  let asked = 0;
  const wrap = (scheduler: Scheduler): Scheduler => ({
    ...scheduler,
    queues: (signal) => {
      asked += 1;
      return scheduler.queues(signal);
    },
  });
  await using server = await openTestServer({ wrap });
  await server.call('POST', '/jobs', { command: 'a' });
  await server.call('POST', '/jobs', { command: 'b' });
  assert.equal(asked, 0);
  for (const lastEventId of ['', 'test-1']) {
    await using listener = await Listener.open(server.url, lastEventId);
    let told = await listener.about('queues');
    while (told.counts === undefined) told = await listener.about('queues');
    assert.equal(told.counts.pending, 2);
  }
});

test('events: listeners beyond the limit are refused and may retry later', async () => {
  await using server = await openTestServer({ maxStreams: 1 });
  {
    await using _ = await Listener.open(server.url);
    const { status, body, headers } = await server.call('GET', '/events');
    assert.deepEqual([status, body.code, headers.get('retry-after')], [503, 'overloaded', '2']);
  }
  // The place is free again once the server has noticed.
  for (;;) {
    const response = await fetch(`${server.url}/events`);
    await response.body?.cancel();
    if (response.status === 200) break;
  }
});

test('events: closing the server ends the stream at once', async () => {
  await using server = await openTestServer();
  await using listener = await Listener.open(server.url);
  await server.close();
  while ((await listener.next()) !== undefined);
});

test('events: a listener resumes after the event that the query names, over jobs that have ended since', async () => {
  await using server = await openTestServer();
  const { body: job } = await server.call('POST', '/jobs', { command: 'a' });
  await using witness = await Listener.open(server.url);
  const seen = (await witness.next())?.id ?? '';
  assert.notEqual(seen, '');
  const { worker, attempt } = await claimOverHttp(server);
  await server.call('POST', `/jobs/${job.id}/done`, { worker_id: worker, attempt });
  // Once a later change has been sent, no new event is about the first job.
  const { body: later } = await server.call('POST', '/jobs', { command: 'b' });
  while ((await witness.about('jobs')).ids?.includes(later.id) !== true);
  const response = await fetch(`${server.url}/events?after=${encodeURIComponent(seen)}`);
  const events = readEvents(response.body!.pipeThrough(new TextDecoderStream()));
  for await (const { data } of events) {
    const event = JSON.parse(data) as Event;
    if (event.topic === 'jobs' && event.ids?.includes(job.id)) break;
  }
  await response.body?.cancel().catch(() => undefined);
  assert.equal((await server.call('GET', '/events?before=1')).status, 400);
});

test('events: after a restart, reset; what is fetched then and what follows its id leave no gap', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'workron.db');
  const seen = await (async () => {
    await using store = await openSqlite({ file, clock: systemClock, log: silentLog });
    await using first = await openTestServer({ store });
    await using witness = await Listener.open(first.url);
    await first.call('POST', '/jobs', { command: 'a' });
    return (await witness.next())?.id ?? '';
  })();
  await using store = await openSqlite({ file, clock: systemClock, log: silentLog });
  await using second = await openTestServer({ store, instanceId: 'second' });
  const { worker, id, attempt } = await claimOverHttp(second);
  await second.call('POST', `/jobs/${id}/done`, { worker_id: worker, attempt });
  await using back = await Listener.open(second.url, seen);
  const reset = await back.next();
  assert.equal(reset?.event, 'reset');
  const { items } = (await second.call('GET', `/jobs?ids=${id}`)).body as { items: { status: string }[] };
  assert.deepEqual(
    items.map(({ status }) => status),
    ['done'],
  );
  const { body: later } = await second.call('POST', '/jobs', { command: 'b' });
  while ((await back.about('jobs')).ids?.includes(later.id) !== true);
  await using again = await Listener.open(second.url, reset.id);
  while ((await again.about('jobs')).ids?.includes(later.id) !== true);
});
