import type { Hint } from '../../src/store/hint.ts';
import type { Store } from '../../src/store/store.ts';

type OfTopic<T extends Hint['topic']> = Extract<Hint, { topic: T }>;

/** Resolves with the next hint of a topic that `matches`; rejects if there is none for 15 s. */
export function nextHint<T extends Hint['topic']>(
  store: Store,
  topic: T,
  matches: (hint: OfTopic<T>) => boolean = () => true,
): Promise<OfTopic<T>> {
  return new Promise((resolve, reject) => {
    const giveUp = setTimeout(() => {
      unsubscribe();
      reject(new Error(`expected a hint about ${topic}, got none`));
    }, 15_000);
    const unsubscribe = store.subscribe((hint) => {
      if (hint.topic !== topic || !matches(hint as OfTopic<T>)) return;
      clearTimeout(giveUp);
      unsubscribe();
      resolve(hint as OfTopic<T>);
    });
  });
}
