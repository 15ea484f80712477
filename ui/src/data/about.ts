import type { EventTopic } from '../../../src/api/event.ts';
import type { Hints } from './live-stream.ts';

/** The changes that make a piece of shown data out of date. */
export interface About {
  topics: readonly EventTopic[];
  /** Ids of the topic; all of them if absent. */
  ids?: readonly string[];
  /** The least time between two fetches, for data whose urgent part arrives on the stream itself. */
  restMs?: number;
}

/** True if the hints may mean that the data is out of date. */
export function concerns(hints: Hints, about: About): boolean {
  if (hints.everything) return true;
  return about.topics.some((topic) => {
    const changed = hints.topics.get(topic);
    if (changed === undefined) return false;
    return changed === null || about.ids === undefined || about.ids.some((id) => changed.has(id));
  });
}
