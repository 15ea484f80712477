import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event, EventTopic } from '../src/api/event.ts';
import { readEvents, type StreamEvent } from '../src/api/event-stream.ts';
import { aJob } from './kit/builders.ts';
import { openTestServer } from './kit/http.ts';

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

test('events: a change is told with its topic and ids', async () => {
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

test('events: more listeners than places are told to come back later', async () => {
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
  assert.equal(await listener.next(), undefined);
});
