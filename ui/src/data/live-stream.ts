/**
 * The one stream of hints that a tab holds open. It reconnects by itself, detects a silent connection, closes while the
 * tab is hidden, and passes hints on in batches, so that thousands of changes a second are a few calls.
 */

import type { Event, LiveCounts } from '../../../src/api/event.ts';
import { readEvents } from '../../../src/api/event-stream.ts';
import { routes } from '../../../src/api/routes.ts';
import { API } from './place.ts';
import { syncClock } from './server-clock.ts';
import { sessionHeaders } from './session.ts';

/** The server writes at least every 5 s. */
const SILENCE_MS = 15_000;
const BATCH_MS = 200;
const RETRY_MS = [500, 1_000, 2_000, 4_000];
/** The connection outlives a short switch to another tab. */
const HIDDEN_MS = 3_000;

export type LiveState = 'connecting' | 'live' | 'reconnecting' | 'paused';

/** The changed ids by topic, or `null` if all may have changed; `everything` after a gap. */
export interface Hints {
  everything: boolean;
  topics: ReadonlyMap<string, ReadonlySet<string> | null>;
}

type Listener = (hints: Hints) => void;

export class LiveStream {
  readonly #listeners = new Set<Listener>();
  readonly #watchers = new Set<() => void>();
  readonly #onUnauthorized: () => void;
  #state: LiveState = 'connecting';
  #counts: LiveCounts | null = null;
  #topics = new Map<string, Set<string> | null>();
  #everything = false;
  #batch: ReturnType<typeof setTimeout> | undefined;
  #lastEventId: string | undefined;
  #running: AbortController | undefined;
  #hidden: ReturnType<typeof setTimeout> | undefined;

  constructor(onUnauthorized: () => void) {
    this.#onUnauthorized = onUnauthorized;
  }

  get state(): LiveState {
    return this.#state;
  }

  /** The latest number of unfinished jobs in each state; `null` if it may be out of date. */
  get counts(): LiveCounts | null {
    return this.#state === 'live' ? this.#counts : null;
  }

  start(): () => void {
    document.addEventListener('visibilitychange', this.#onVisibility);
    this.#open();
    return () => {
      document.removeEventListener('visibilitychange', this.#onVisibility);
      this.#close();
    };
  }

  setPaused(paused: boolean): void {
    if (paused === (this.#state === 'paused')) return;
    this.#close();
    if (paused) this.#setState('paused');
    else {
      this.#setState('connecting');
      this.#open();
      this.#addHint(null);
    }
  }

  onHints(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Called after every new connection state and every new count. */
  readonly onState = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  readonly #onVisibility = (): void => {
    clearTimeout(this.#hidden);
    if (this.#state === 'paused') return;
    if (document.hidden) this.#hidden = setTimeout(() => this.#close(), HIDDEN_MS);
    else if (this.#running === undefined) this.#open();
  };

  #open(): void {
    if (this.#running !== undefined) return;
    const running = new AbortController();
    this.#running = running;
    void this.#run(running.signal);
  }

  #close(): void {
    this.#running?.abort();
    this.#running = undefined;
  }

  async #run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        await this.#listen(signal, () => {
          // Hints may have been missed, so everything that is shown is fetched again.
          if (failures > 0) this.#addHint(null);
          failures = 0;
          this.#setState('live');
        });
      } catch {
        // The state shows the error; the next round tries again.
      }
      if (signal.aborted) return;
      this.#setState('reconnecting');
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS[failures] ?? RETRY_MS.at(-1)));
    }
  }

  async #listen(signal: AbortSignal, onOpen: () => void): Promise<void> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    const response = await fetch(API + routes.streamEvents.path, {
      headers: {
        accept: 'text/event-stream',
        ...sessionHeaders(),
        ...(this.#lastEventId === undefined ? {} : { 'last-event-id': this.#lastEventId }),
      },
      signal: AbortSignal.any([signal, silence.signal]),
    });
    syncClock(response.headers.get('date'));
    if (response.status === 401) this.#onUnauthorized();
    if (!response.ok || response.body === null)
      throw new Error(`${routes.streamEvents.path} answered ${response.status}`);
    // Counts of the previous connection may be out of date.
    this.#counts = null;
    onOpen();
    const text = response.body.pipeThrough(new TextDecoderStream());
    const alive = async function* () {
      const reader = text.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        clearTimeout(timer);
        if (done) return;
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
        yield value;
      }
    };
    for await (const { event, id, data } of readEvents(alive())) {
      this.#lastEventId = id ?? this.#lastEventId;
      const change = event === 'reset' ? null : (JSON.parse(data) as Event);
      if (change?.counts !== undefined) this.#setCounts(change.counts);
      this.#addHint(change);
    }
  }

  /** Adds a change to the next batch; `null` means that anything may have changed. */
  #addHint(event: Event | null): void {
    if (event === null) this.#everything = true;
    else {
      const known = this.#topics.get(event.topic);
      if (event.ids === undefined || known === null) this.#topics.set(event.topic, null);
      else if (known === undefined) this.#topics.set(event.topic, new Set(event.ids));
      else for (const id of event.ids) known.add(id);
    }
    if (this.#batch === undefined) this.#batch = setTimeout(() => this.#flush(), BATCH_MS);
  }

  #flush(): void {
    this.#batch = undefined;
    const hints: Hints = { everything: this.#everything, topics: this.#topics };
    this.#topics = new Map();
    this.#everything = false;
    for (const listener of this.#listeners) listener(hints);
  }

  #setCounts(counts: LiveCounts): void {
    this.#counts = counts;
    for (const watcher of this.#watchers) watcher();
  }

  #setState(state: LiveState): void {
    if (this.#state === state) return;
    this.#state = state;
    for (const watcher of this.#watchers) watcher();
  }
}
