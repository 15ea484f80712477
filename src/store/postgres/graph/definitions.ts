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
import type { Session } from '../base/database.ts';
import { nowOf, type ScheduleRow, toSchedule } from '../schedules/rows.ts';
import { retryTransaction } from './retry-transaction.ts';

/** The largest number of a version. */
const MAX_VERSION = 2_147_483_647;

export async function putDefinition(
  context: Context,
  { name, source, body }: NewDefinition,
  followers: readonly Follower[],
  signal: AbortSignal,
): Promise<{ definition: Definition; changed: boolean } | undefined> {
  const { sql } = context;
  return await retryTransaction(context, signal, async (session) => {
    await session.query(sql.lockDefinitions, []);
    const [latest] = await session.query<DefinitionColumns>(sql.latestDefinition, [name]);
    if (latest?.body === body) return { definition: decodeDefinition(latest), changed: false };
    const version = (latest?.version ?? 0) + 1;
    await session.query(sql.lockSchedulesUsing, [name]);
    const using = (await session.query<ScheduleRow>(sql.schedulesUsing, [name])).map(toSchedule);
    const following = followVersion(using, followers, version);
    if (following === undefined) return undefined;
    const now = await nowOf(context, session);
    for (const schedule of following) {
      const { id, owner, pausedAt, pausedNote } = schedule;
      const spec = JSON.stringify(specOfSchedule(schedule));
      await session.query(sql.updateSchedule, [id, owner, spec, now, pausedAt, pausedNote]);
    }
    const [row] = await session.query<DefinitionColumns>(sql.insertDefinition, [name, version, source, body]);
    return { definition: decodeDefinition(row as DefinitionColumns), changed: true };
  });
}

export async function definition(
  { database, sql }: Context,
  name: string,
  version: number | null,
  signal: AbortSignal,
): Promise<Definition | undefined> {
  if (version !== null && version > MAX_VERSION) return undefined;
  const [row] =
    version === null
      ? await database.query<DefinitionColumns>(sql.latestDefinition, [name], signal)
      : await database.query<DefinitionColumns>(sql.definition, [name, version], signal);
  return row === undefined ? undefined : decodeDefinition(row);
}

export async function definitions(
  { database, sql }: Context,
  { after, limit }: { after: string | null; limit: number },
  signal: AbortSignal,
): Promise<Definition[]> {
  return (await database.query<DefinitionColumns>(sql.definitions, [after ?? '', limit], signal)).map(decodeDefinition);
}

export async function definitionVersions(
  { database, sql }: Context,
  name: string,
  { before, limit }: { before: number | null; limit: number },
  signal: AbortSignal,
): Promise<Definition[]> {
  const values = [name, Math.min(before ?? MAX_VERSION, MAX_VERSION), limit];
  return (await database.query<DefinitionColumns>(sql.definitionVersions, values, signal)).map(decodeDefinition);
}

export async function deleteDefinition(
  context: Context,
  name: string,
  signal: AbortSignal,
): Promise<{ deleted: boolean; usedBy: readonly string[] }> {
  const { sql } = context;
  return await retryTransaction(context, signal, async (session) => {
    await session.query(sql.lockDefinitions, []);
    const using = await session.query<ScheduleRow>(sql.schedulesUsing, [name]);
    const usedBy = using.map((schedule) => schedule.name);
    if (usedBy.length > 0) return { deleted: false, usedBy };
    return { deleted: (await session.query(sql.deleteDefinition, [name])).length > 0, usedBy };
  });
}

export async function schedulesUsing(
  { database, sql }: Context,
  name: string,
  signal: AbortSignal,
): Promise<Schedule[]> {
  return (await database.query<ScheduleRow>(sql.schedulesUsing, [name], signal)).map(toSchedule);
}

/**
 * Throws if a schedule cannot use what it names. Until the transaction ends, no definition is stored or deleted. Must be
 * called before the schedule is locked.
 */
export async function checkDefinition(
  { sql }: Context,
  session: Session,
  spec: Pick<ScheduleSpec, 'uses'>,
): Promise<void> {
  if (spec.uses == null) return;
  await session.query(sql.holdDefinitions, []);
  const rows = await session.query<{ version: number }>(sql.definitionNumbers, [spec.uses.name]);
  checkUse(
    spec,
    rows.map(({ version }) => version),
  );
}
