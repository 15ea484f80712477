/** Workflow definitions: stored by name, in versions that never change. */

import type { Definition, Follower, NewDefinition } from '../core/dag/definition.ts';
import type { Schedule } from '../core/schedule/schedule.ts';

export interface DefinitionStore {
  /**
   * Stores the next version of a definition, and lets the schedules that follow it run the workflows of `followers` from now
   * on. If the latest version has the same body, nothing is written. Returns `undefined`, and writes nothing, if other
   * schedules follow it, or with other parameters: read them again.
   */
  putDefinition(
    definition: NewDefinition,
    followers: readonly Follower[],
    signal: AbortSignal,
  ): Promise<{ definition: Definition; changed: boolean } | undefined>;

  /** Returns a version of a definition, the latest if `version` is `null`. */
  definition(name: string, version: number | null, signal: AbortSignal): Promise<Definition | undefined>;

  /** Returns the latest versions of definitions by name, beyond `after` if given. */
  definitions(page: { after: string | null; limit: number }, signal: AbortSignal): Promise<Definition[]>;

  /** Returns the versions of a definition, newest first, below `before` if given. */
  definitionVersions(
    name: string,
    page: { before: number | null; limit: number },
    signal: AbortSignal,
  ): Promise<Definition[]>;

  /** Deletes all versions of a definition, unless schedules use it. Workflows that were made from it stay. */
  deleteDefinition(name: string, signal: AbortSignal): Promise<{ deleted: boolean; usedBy: readonly string[] }>;

  /** Returns the schedules that use a definition, in any version, by name. */
  schedulesUsing(name: string, signal: AbortSignal): Promise<Schedule[]>;
}
