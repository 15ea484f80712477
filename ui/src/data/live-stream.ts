/**
 * The one stream of hints that a tab holds open. It reconnects by itself, notices a silent connection, rests while the
 * tab is hidden, and hands hints on in bundles, so that thousands of changes a second are a few calls.
 */

import type { Event, LiveCounts } from '../../../src/api/event.ts';
import { readEvents } from '../../../src/api/event-stream.ts';
import { routes } from '../../../src/api/routes.ts';
import { API } from './place.ts';
import { syncClock } from './server-clock.ts';

/** The server writes at least every 5 s. */
const SILENCE_MS = 15_000;
const BUNDLE_MS = 200;
const RETRY_MS = [500, 1_000, 2_000, 4_000];
/** Switching tabs for a moment is not worth a new connection. */
const HIDDEN_MS = 3_000;

export type LiveState = 'connecting' | 'live' | 'reconnecting' | 'paused';

/** What changed: by topic the ids, or `null` where all may have; `everything` after a gap. */
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
  #bundle: ReturnType<typeof setTimeout> | undefined;
  #lastEventId: string | undefined;
  #running: AbortController | undefined;
  #hidden: ReturnType<typeof setTimeout> | undefined;

  constructor(onUnauthorized: () => void) {
    this.#onUnauthorized = onUnauthorized;
  }

  get state(): LiveState {
    return this.#state;
  }

  /** How many unfinished jobs there are, as last told; `null` where what was told may be old. */
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
      this.#tell(null);
    }
  }

  onHints(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Called with every new state and with every count. */
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
          // Whatever happened meanwhile, what is shown is fetched anew.
          if (failures > 0) this.#tell(null);
          failures = 0;
          this.#setState('live');
        });
      } catch {
        // Told by the state; the next round tries again.
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
        ...(this.#lastEventId === undefined ? {} : { 'last-event-id': this.#lastEventId }),
      },
      signal: AbortSignal.any([signal, silence.signal]),
    });
    syncClock(response.headers.get('date'));
    if (response.status === 401) this.#onUnauthorized();
    if (!response.ok || response.body === null)
      throw new Error(`${routes.streamEvents.path} answered ${response.status}`);
    // Those of the connection before are of its time.
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
      const told = event === 'reset' ? null : (JSON.parse(data) as Event);
      if (told?.counts !== undefined) this.#setCounts(told.counts);
      this.#tell(told);
    }
  }

  /** `null`: anything may have changed. */
  #tell(event: Event | null): void {
    if (event === null) this.#everything = true;
    else {
      const known = this.#topics.get(event.topic);
      if (event.ids === undefined || known === null) this.#topics.set(event.topic, null);
      else if (known === undefined) this.#topics.set(event.topic, new Set(event.ids));
      else for (const id of event.ids) known.add(id);
    }
    if (this.#bundle === undefined) this.#bundle = setTimeout(() => this.#flush(), BUNDLE_MS);
  }

  #flush(): void {
    this.#bundle = undefined;
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
