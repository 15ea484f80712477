/** Sends the scheduler's hints to listeners: at most four events per second and topic, with ids to resume from. */

import type { Event, EventTopic, LiveCounts } from '../api/event.ts';
import { systemClock } from '../ops/clock.ts';
import { Wake } from '../ops/wake.ts';
import type { Hint, Scheduler } from '../scheduler/scheduler.ts';
import { LiveCounter } from './live-counts.ts';
import { HEARTBEAT_MS, sseComment, sseEvent } from './sse.ts';

/** The pause between two events of one topic. */
const PAUSE_MS = 250;
/** An event with more ids than this has none: anything may have changed. */
const MAX_IDS = 200;
/** The number of events that are kept for listeners that reconnect. */
const MAX_RECENT = 256;
/** A listener that is further behind is disconnected; when it reconnects, it gets a `reset`. */
const MAX_BEHIND = 64;

interface Topic {
  /** The ids that changed since the last event; `null`: too many. */
  ids: Set<number> | null;
  waiting: boolean;
  /** From the moment an event is built until the pause after it has ended. */
  resting: boolean;
  timer: NodeJS.Timeout | null;
}

interface Sent {
  number: number;
  frame: string;
}

export class EventHub {
  readonly #instanceId: string;
  readonly #unsubscribe: () => void;
  readonly #counter: LiveCounter;
  readonly #closing = new AbortController();
  readonly #topics = new Map<EventTopic, Topic>();
  readonly #listeners = new Set<(sent: Sent) => void>();
  #recent: Sent[] = [];
  #last = 0;

  constructor(scheduler: Scheduler) {
    this.#instanceId = scheduler.instanceId;
    this.#counter = new LiveCounter(scheduler, this.#closing.signal);
    this.#unsubscribe = scheduler.subscribe((hint) => this.#onHint(hint));
  }

  /** Yields events from now on, or from after `lastEventId`; first `reset` if some in between are no longer kept. Ends with `signal`. */
  async *stream(lastEventId: string | undefined, signal: AbortSignal): AsyncGenerator<string> {
    const queue: Sent[] = [];
    const wake = new Wake();
    const tooSlow = new AbortController();
    const listener = (sent: Sent) => {
      if (queue.length >= MAX_BEHIND) tooSlow.abort();
      else queue.push(sent);
      wake.fire();
    };
    this.#listeners.add(listener);
    try {
      yield `retry: 1000\n${this.#catchUp(lastEventId)}`;
      // Without this, the listener would not get counts before the next change.
      this.#add('queues', null);
      while (!signal.aborted && !tooSlow.signal.aborted) {
        wake.reset();
        const frames = queue.splice(0);
        if (frames.length > 0) yield frames.map((sent) => sent.frame).join('');
        else await wake.sleep(systemClock, HEARTBEAT_MS, signal);
        if (queue.length === 0 && frames.length === 0 && !signal.aborted) yield sseComment('alive');
      }
    } finally {
      this.#listeners.delete(listener);
    }
  }

  close(): void {
    this.#unsubscribe();
    this.#closing.abort();
    for (const topic of this.#topics.values()) clearTimeout(topic.timer ?? undefined);
  }

  #catchUp(lastEventId: string | undefined): string {
    if (lastEventId === undefined || lastEventId === '') return sseComment('welcome');
    const dash = lastEventId.lastIndexOf('-');
    const number = Number(lastEventId.slice(dash + 1));
    const known = lastEventId.slice(0, dash) === this.#instanceId && Number.isInteger(number) && number <= this.#last;
    const first = this.#recent[0]?.number ?? this.#last + 1;
    if (!known || number + 1 < first) return sseEvent({ event: 'reset', id: this.#id(this.#last), data: '{}' });
    const missed = this.#recent.filter((sent) => sent.number > number);
    return missed.length === 0 ? sseComment('welcome') : missed.map((sent) => sent.frame).join('');
  }

  #onHint(hint: Hint): void {
    switch (hint.topic) {
      case 'jobs':
        this.#add('jobs', hint.ids);
        return this.#add('queues', null);
      case 'work':
        return this.#add('queues', null);
      case 'workers':
        return this.#add('workers', hint.ids);
      case 'due':
      case 'graph':
      case 'schedules':
      case 'leadership':
        return;
      default:
        hint satisfies never;
    }
  }

  #add(name: EventTopic, ids: readonly number[] | null): void {
    const topic = this.#topics.get(name) ?? { ids: new Set<number>(), waiting: false, resting: false, timer: null };
    this.#topics.set(name, topic);
    topic.waiting = true;
    if (ids === null || (topic.ids !== null && topic.ids.size + ids.length > MAX_IDS)) topic.ids = null;
    for (const id of topic.ids === null ? [] : (ids ?? [])) topic.ids?.add(id);
    if (!topic.resting) this.#emit(name, topic);
  }

  /** Sends the first change at once, and those within the pause together at its end. Without listeners nothing is counted. */
  #emit(name: EventTopic, topic: Topic): void {
    topic.resting = true;
    // Cleared before the count: changes during the count may be missing from it.
    topic.waiting = false;
    if (name === 'queues' && this.#listeners.size > 0) {
      void this.#counter.count().then((counts) => {
        this.#send(name, topic, counts);
        this.#rest(name, topic, Math.max(PAUSE_MS, this.#counter.restMs));
      });
    } else {
      this.#send(name, topic, undefined);
      this.#rest(name, topic, PAUSE_MS);
    }
  }

  #send(name: EventTopic, topic: Topic, counts: LiveCounts | undefined): void {
    const event: Event = {
      topic: name,
      ...(topic.ids === null ? {} : { ids: [...topic.ids].map(String) }),
      ...(counts === undefined ? {} : { counts }),
    };
    topic.ids = new Set();
    this.#last += 1;
    const frame = sseEvent({ id: this.#id(this.#last), data: JSON.stringify(event) });
    const sent = { number: this.#last, frame };
    this.#recent.push(sent);
    if (this.#recent.length > 2 * MAX_RECENT) this.#recent = this.#recent.slice(-MAX_RECENT);
    for (const listener of this.#listeners) listener(sent);
  }

  #rest(name: EventTopic, topic: Topic, ms: number): void {
    if (this.#closing.signal.aborted) return;
    topic.timer = setTimeout(() => {
      topic.resting = false;
      if (topic.waiting) this.#emit(name, topic);
    }, ms).unref();
  }

  #id(number: number): string {
    return `${this.#instanceId}-${number}`;
  }
}
