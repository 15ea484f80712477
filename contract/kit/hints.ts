import type { Hint } from '../../src/store/hint.ts';
import type { Store } from '../../src/store/store.ts';

type OfTopic<T extends Hint['topic']> = Extract<Hint, { topic: T }>;

/** Resolves with the first hint of a topic, from now on, that `matches`; rejects if none comes for a long time. */
export function nextHint<T extends Hint['topic']>(
  store: Store,
  topic: T,
  matches: (hint: OfTopic<T>) => boolean = () => true,
): Promise<OfTopic<T>> {
  return new Promise((resolve, reject) => {
    const giveUp = setTimeout(() => {
      unsubscribe();
      reject(new Error(`no hint about ${topic}`));
    }, 15_000);
    const unsubscribe = store.subscribe((hint) => {
      if (hint.topic !== topic || !matches(hint as OfTopic<T>)) return;
      clearTimeout(giveUp);
      unsubscribe();
      resolve(hint as OfTopic<T>);
    });
  });
}
