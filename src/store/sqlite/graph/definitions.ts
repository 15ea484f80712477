/** Stores and reads workflow definitions. */

import {
  checkUse,
  type Definition,
  type Follower,
  followVersion,
  type NewDefinition,
} from '../../../core/dag/definition.ts';
import type { Schedule, ScheduleSpec } from '../../../core/schedule/schedule.ts';
import { type DefinitionColumns, decodeDefinition } from '../../definition-columns.ts';
import { specOfSchedule } from '../../schedule-columns.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { type ScheduleRow, toSchedule } from '../schedules/rows.ts';

export function putDefinition(
  context: Context,
  { name, source, body }: NewDefinition,
  followers: readonly Follower[],
): { definition: Definition; changed: boolean } | undefined {
  const { database, now } = context;
  const latest = definition(context, name, null);
  if (latest?.body === body) return { definition: latest, changed: false };
  const version = (latest?.version ?? 0) + 1;
  const following = followVersion(schedulesUsing(context, name), followers, version);
  if (following === undefined) return undefined;
  const row = database.get<DefinitionColumns>(sql.insertDefinition, name, version, source, body, now);
  for (const schedule of following) {
    const { id, owner, pausedAt, pausedNote } = schedule;
    database.run(sql.updateSchedule, id, owner, JSON.stringify(specOfSchedule(schedule)), now, pausedAt, pausedNote);
  }
  return { definition: decodeDefinition(row as DefinitionColumns), changed: true };
}

export function definition({ database }: Context, name: string, version: number | null): Definition | undefined {
  const row =
    version === null
      ? database.get<DefinitionColumns>(sql.latestDefinition, name)
      : database.get<DefinitionColumns>(sql.definition, name, version);
  return row === undefined ? undefined : decodeDefinition(row);
}

export function definitions(
  { database }: Context,
  { after, limit }: { after: string | null; limit: number },
): Definition[] {
  return database.all<DefinitionColumns>(sql.definitions, after ?? '', limit).map(decodeDefinition);
}

export function definitionVersions(
  { database }: Context,
  name: string,
  { before, limit }: { before: number | null; limit: number },
): Definition[] {
  const below = before ?? Number.MAX_SAFE_INTEGER;
  return database.all<DefinitionColumns>(sql.definitionVersions, name, below, limit).map(decodeDefinition);
}

export function deleteDefinition(context: Context, name: string): { deleted: boolean; usedBy: readonly string[] } {
  const usedBy = schedulesUsing(context, name).map((schedule) => schedule.name);
  return { deleted: usedBy.length === 0 && context.database.run(sql.deleteDefinition, name) > 0, usedBy };
}

export function schedulesUsing({ database }: Context, name: string): Schedule[] {
  return database.all<ScheduleRow>(sql.schedulesUsing, name).map(toSchedule);
}

/** Throws if a schedule cannot use what it names. */
export function checkDefinition({ database }: Context, spec: Pick<ScheduleSpec, 'uses'>): void {
  if (spec.uses == null) return;
  const rows = database.all<{ version: number }>(sql.definitionNumbers, spec.uses.name);
  checkUse(
    spec,
    rows.map(({ version }) => version),
  );
}
