import type { EventTopic } from '../../../src/api/event.ts';
import type { Hints } from './live-stream.ts';

/** What a piece of shown data depends on. */
export interface About {
  topics: readonly EventTopic[];
  /** Only these; all of the topic where absent. */
  ids?: readonly string[];
  /** So long at least between two fetches, where what matters at once comes by the stream itself. */
  restMs?: number;
}

/** Whether the hints may mean that it is out of date. */
export function concerns(hints: Hints, about: About): boolean {
  if (hints.everything) return true;
  return about.topics.some((topic) => {
    const changed = hints.topics.get(topic);
    if (changed === undefined) return false;
    return changed === null || about.ids === undefined || about.ids.some((id) => changed.has(id));
  });
}
