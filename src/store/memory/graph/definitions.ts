import {
  checkUse,
  type Definition,
  type Follower,
  followVersion,
  type NewDefinition,
} from '../../../core/dag/definition.ts';
import type { Schedule, ScheduleSpec } from '../../../core/schedule/schedule.ts';
import { copyJson } from '../base/copy.ts';
import type { Tables } from '../base/tables.ts';
import { toSchedule } from '../schedules/rows.ts';

export function putDefinition(
  tables: Tables,
  { name, source, body }: NewDefinition,
  followers: readonly Follower[],
): { definition: Definition; changed: boolean } | undefined {
  const versions = tables.definitions.get(name) ?? [];
  const latest = versions.at(-1);
  if (latest?.body === body) return { definition: { ...latest }, changed: false };
  const version = (latest?.version ?? 0) + 1;
  const following = followVersion(schedulesUsing(tables, name), copyJson(followers), version);
  if (following === undefined) return undefined;
  const now = tables.clock.now();
  const definition = { name, source, body, version, createdAt: now };
  tables.definitions.set(name, [...versions, definition]);
  for (const { name: schedule, target, uses = null } of following) {
    Object.assign(tables.schedules.get(schedule) ?? {}, { target, uses, updatedAt: now });
  }
  return { definition: { ...definition }, changed: true };
}

export function definition(tables: Tables, name: string, version: number | null): Definition | undefined {
  const versions = tables.definitions.get(name) ?? [];
  const found = version === null ? versions.at(-1) : versions.find((each) => each.version === version);
  return found && { ...found };
}

export function definitions(tables: Tables, { after, limit }: { after: string | null; limit: number }): Definition[] {
  return [...tables.definitions.values()]
    .flatMap((versions) => versions.at(-1) ?? [])
    .filter(({ name }) => after === null || name > after)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map((each) => ({ ...each }));
}

export function definitionVersions(
  tables: Tables,
  name: string,
  { before, limit }: { before: number | null; limit: number },
): Definition[] {
  return (tables.definitions.get(name) ?? [])
    .filter(({ version }) => before === null || version < before)
    .toReversed()
    .slice(0, limit)
    .map((each) => ({ ...each }));
}

export function deleteDefinition(tables: Tables, name: string): { deleted: boolean; usedBy: readonly string[] } {
  const usedBy = schedulesUsing(tables, name).map((schedule) => schedule.name);
  return { deleted: usedBy.length === 0 && tables.definitions.delete(name), usedBy };
}

export function schedulesUsing(tables: Tables, name: string): Schedule[] {
  return [...tables.schedules.values()]
    .filter(({ uses }) => uses?.name === name)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(toSchedule);
}

/** Throws if a schedule cannot use what it names. */
export function checkDefinition(tables: Tables, spec: Pick<ScheduleSpec, 'uses'>): void {
  checkUse(
    spec,
    (tables.definitions.get(spec.uses?.name ?? '') ?? []).map(({ version }) => version),
  );
}
