/** Gangs and the places of their members. */

import type { DroppedPlaces, GangRow, IncompleteGang, Place } from '../core/gang.ts';

export interface GangStore {
  /**
   * Gives places to gangs whose members all wait (`placeGangs` in core), each gang as a whole, and begins their next term. Returns the
   * number of places. A claim of the worker of a place accepts it if its offer has room, holds that room from then on, and starts the
   * member once all places of the gang are accepted.
   */
  placeGangs(signal: AbortSignal): Promise<number>;

  /** Returns members that can be claimed and have no places, of gangs of which others do not wait: they may have ended. */
  incompleteGangs(signal: AbortSignal): Promise<IncompleteGang[]>;

  /** Returns the places of all gangs, by gang and rank. */
  places(signal: AbortSignal): Promise<Place[]>;

  /** Returns the gangs with these ids that were ever given places, by id. */
  gangs(ids: readonly string[], signal: AbortSignal): Promise<GangRow[]>;

  /**
   * Marks the term of a gang as stopping. Members that have not started do not start in this term. Returns false, and changes nothing, if
   * it is another term or is stopping already.
   */
  stopGang(id: string, term: number, signal: AbortSignal): Promise<boolean>;

  /** Deletes the places of gangs that are still in these terms. Members that wait are given places again. */
  dropPlaces(dropped: readonly DroppedPlaces[], signal: AbortSignal): Promise<void>;
}
