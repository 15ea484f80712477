/**
 * Stored workflow definitions. Storing or deleting one locks the table, before any schedule is locked. So does letting a schedule use
 * one, in a mode that several transactions can hold. Reads go on.
 */

import {
  checkUse,
  type Definition,
  type Follower,
  followVersion,
  type NewDefinition,
} from '../../../core/dag/definition.ts';
import type { Schedule, ScheduleSpec } from '../../../core/schedule/schedule.ts';
import { columns } from '../../sql/columns.ts';
import { now, sql } from '../../sql/sql.ts';
import { many, one, type Tx } from '../../sql/tx.ts';
import { readSchedules, schedule, specOf } from './rows.ts';

/** The largest number of a version. */
const MAX_VERSION = 2_147_483_647;

const definitionRow = columns<Definition>({
  name: 'text',
  version: 'int',
  source: 'text',
  body: 'text',
  createdAt: 'instant',
});
const versionRow = columns<Pick<Definition, 'version'>>({ version: 'int' });
const uses = (name: string) => sql`spec -> 'uses' ->> 'name' = ${name}`;

async function putDefinition(
  tx: Tx,
  wanted: NewDefinition,
  followers: readonly Follower[],
): Promise<{ definition: Definition; changed: boolean } | undefined> {
  const { name, body } = wanted;
  await tx.lockTable('definition');
  const latest = await definition(tx, name, null);
  if (latest?.body === body) return { definition: latest, changed: false };
  const version = (latest?.version ?? 0) + 1;
  await tx.lockRows(sql`select id from schedule where ${uses(name)} order by id for update`);
  const following = followVersion(await schedulesUsing(tx, name), followers, version);
  if (following === undefined) return undefined;
  for (const { id, owner, pausedAt, pausedNote, ...one } of following) {
    const set = schedule.set({ owner, spec: specOf(one), updatedAt: now, pausedAt, pausedNote });
    await tx.run(sql`update schedule set ${set} where id = ${id}`);
  }
  const values = definitionRow.values({ ...wanted, version, createdAt: now });
  const stored = await tx.get(definitionRow, sql`insert into definition ${values} returning ${definitionRow}`);
  return { definition: stored as Definition, changed: true };
}

async function definition(tx: Tx, name: string, version: number | null): Promise<Definition | undefined> {
  if (version !== null && version > MAX_VERSION) return undefined;
  return tx.get(
    definitionRow,
    version === null
      ? sql`select ${definitionRow} from definition where name = ${name} order by version desc limit 1`
      : sql`select ${definitionRow} from definition where name = ${name} and version = ${version}`,
  );
}

function definitions(tx: Tx, { after, limit }: { after: string | null; limit: number }): Promise<Definition[]> {
  return tx.all(
    definitionRow,
    sql`select ${definitionRow} from definition d where name > ${after ?? ''}
        and version = (select max(version) from definition where name = d.name)
      order by name limit ${limit}`,
  );
}

function definitionVersions(
  tx: Tx,
  name: string,
  { before, limit }: { before: number | null; limit: number },
): Promise<Definition[]> {
  const below = Math.min(before ?? MAX_VERSION, MAX_VERSION);
  return tx.all(
    definitionRow,
    sql`select ${definitionRow} from definition where name = ${name} and version < ${below}
      order by version desc limit ${limit}`,
  );
}

async function deleteDefinition(tx: Tx, name: string): Promise<{ deleted: boolean; usedBy: readonly string[] }> {
  await tx.lockTable('definition');
  const usedBy = (await schedulesUsing(tx, name)).map((one) => one.name);
  if (usedBy.length > 0) return { deleted: false, usedBy };
  return { deleted: (await tx.run(sql`delete from definition where name = ${name}`)) > 0, usedBy };
}

function schedulesUsing(tx: Tx, name: string): Promise<Schedule[]> {
  return readSchedules(tx, sql`where ${uses(name)} order by s.name`);
}

/**
 * Throws if a schedule cannot use what it names. Until the transaction ends, no definition is stored or deleted. To be called before
 * the schedule is locked.
 */
export async function checkDefinition(tx: Tx, spec: Pick<ScheduleSpec, 'uses'>): Promise<void> {
  if (spec.uses == null) return;
  await tx.lockTable('definition', 'share');
  const rows = await tx.all(versionRow, sql`select version from definition where name = ${spec.uses.name}`);
  checkUse(
    spec,
    rows.map(({ version }) => version),
  );
}

export const definitionMethods = {
  putDefinition: many('write', putDefinition),
  definition: one('urgent', definition),
  definitions: one('read', definitions),
  definitionVersions: one('read', definitionVersions),
  deleteDefinition: many('write', deleteDefinition),
  schedulesUsing: one('urgent', schedulesUsing),
};
