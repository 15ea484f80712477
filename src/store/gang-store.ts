/** Places of gangs. */

import type { Place } from '../core/gang.ts';

export interface GangStore {
  /**
   * Gives places to gangs whose members all wait (`placeGangs` in core), each gang as a whole. Returns the number of places. A claim of the
   * worker of a place accepts it if its offer has room, holds that room from then on, and starts the member once all
   * places of the gang are accepted.
   */
  placeGangs(signal: AbortSignal): Promise<number>;

  /** Returns the places of all gangs, by gang and rank. */
  places(signal: AbortSignal): Promise<Place[]>;

  /** Deletes the places of gangs. Members that wait are given places again. */
  dropPlaces(gangIds: readonly string[], signal: AbortSignal): Promise<void>;
}
