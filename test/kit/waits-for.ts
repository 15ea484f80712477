import type { Waiting } from '../../src/api/waiting.ts';
import { waitingText } from '../../src/api/words/waiting.ts';

/** What a job waits for, in words, with instants as the API has them; empty if it does not wait. */
export function waitsFor(waiting: Waiting | null): string {
  return waiting === null ? '' : waitingText(waiting, { at: (instant) => instant });
}
