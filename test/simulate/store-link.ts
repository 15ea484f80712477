/** The way of a scheduler to the store: calls take time, get lost, or find the store unavailable. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { WorkronError } from '../../src/core/error.ts';
import type { TermFence } from '../../src/core/leadership.ts';
import { NEVER } from '../../src/core/never.ts';
import type { Hint, SideEffects } from '../../src/store/hint.ts';
import type { Store } from '../../src/store/store.ts';
import type { Conditions } from './conditions.ts';
import type { Part } from './virtual-time.ts';

type Method = (...args: unknown[]) => Promise<unknown>;
type Methods = Record<string, Method>;

interface StoreLinkOptions {
  store: Store;
  /** The part that runs the store. */
  storePart: Part;
  /** The scheduler that calls. */
  caller: Part;
  exclusive: boolean;
  conditions: Conditions;
  /** Called at the store, after each call. `answer` is `undefined` if the call was refused. */
  onCall: (caller: Part, call: { name: string; args: readonly unknown[]; answer: unknown }) => Promise<void>;
  /** Called when a scheduler hears of the side effects of its call. */
  onHeard: (caller: Part, effects: SideEffects) => void;
}

/** The store as one scheduler sees it. A leader's writes are fenced by the term that it had when it sent them. */
export function linkStore(options: StoreLinkOptions): Store {
  const { store, caller, exclusive, conditions } = options;
  const names = Object.keys(store).filter((name) => typeof store[name as keyof Store] === 'function');
  const fencedStores = new Map<string, Methods>();
  const fencedBy = (fence: () => TermFence): Methods => {
    const sent = resultOf(fence);
    const key = 'value' in sent ? `${sent.value.duty} ${sent.value.term}` : sent.error.message;
    const known = fencedStores.get(key) ?? (store.fenced(() => valueOf(sent)) as unknown as Methods);
    fencedStores.set(key, known);
    return known;
  };
  const linked = (target: () => Methods): Store => {
    const methods = names.map((name) => [name, (...args: unknown[]) => call(options, { name, args, target })]);
    return {
      ...store,
      exclusive,
      ...(Object.fromEntries(methods) as object),
      deadlocks: () => 0,
      fenced: (fence: () => TermFence) => linked(() => fencedBy(fence)),
      subscribe: (listener: (hint: Hint) => void) => listen(store, caller, conditions, listener),
      observe: (observer: Observer) => observe(options, observer),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  };
  return linked(() => store as unknown as Methods);
}

type Result<T> = { value: T } | { error: Error };

function resultOf<T>(body: () => T): Result<T> {
  try {
    return { value: body() };
  } catch (error) {
    return { error: error as Error };
  }
}

function valueOf<T>(result: Result<T>): T {
  if ('error' in result) throw result.error;
  return result.value;
}

interface Call {
  name: string;
  args: unknown[];
  target: () => Methods;
}

function call(
  { storePart, caller, conditions, onCall }: StoreLinkOptions,
  { name, args, target }: Call,
): Promise<unknown> {
  const signal = args.at(-1) as AbortSignal;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const method = target()[name] as Method;
    const fate = conditions.storeFate(caller);
    const give = (settle: () => void, ms: number) =>
      void caller.time.after(ms, caller, () => {
        signal.removeEventListener('abort', onAbort);
        settle();
      });
    const onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    if (fate.request !== 'arrives') return give(() => reject(unavailable()), fate.giveUpMs);
    const arrive = async () => {
      // A call that was given up before it arrived may or may not be carried out.
      if (signal.aborted && fate.cancels) return;
      if (conditions.storeIsAway) return give(() => reject(unavailable()), fate.giveUpMs);
      const answered = carriedOutFor.run(caller, () => method(...args.slice(0, -1), NEVER));
      const done = await answered.then(
        (value) => ({ value, give: () => resolve(value) }),
        (error: Error) => ({ value: undefined, give: () => reject(error) }),
      );
      await onCall(caller, { name, args, answer: done.value });
      if (fate.answer === 'arrives' && !conditions.storeIsAway) give(done.give, fate.answerMs);
      else give(() => reject(unavailable()), fate.giveUpMs);
    };
    storePart.time.after(fate.requestMs, storePart, () => void arrive());
  });
}

type Observer = Parameters<Store['observe']>[0];

/** The part whose call the store carries out: the memory store calls observers in the context of the call. */
const carriedOutFor = new AsyncLocalStorage<Part>();

/** A process hears only of the effects of its own calls. */
function observe({ store, caller, onHeard }: StoreLinkOptions, observer: Observer): () => void {
  const stop = store.observe((effects) => {
    if (carriedOutFor.getStore() !== caller) return;
    caller.time.after(0, caller, () => {
      onHeard(caller, effects);
      observer(effects);
    });
  });
  caller.onDeath(stop);
  return stop;
}

function listen(store: Store, caller: Part, conditions: Conditions, listener: (hint: Hint) => void): () => void {
  const stop = store.subscribe((hint) => {
    const ms = conditions.hintMs(caller);
    if (ms !== null) caller.time.after(ms, caller, () => listener(hint));
  });
  caller.onDeath(stop);
  return stop;
}

function unavailable(): WorkronError {
  return new WorkronError('store_unavailable', 'The store cannot be reached');
}
