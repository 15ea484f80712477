/** Deletes lanes that nothing uses. */

import type { LaneMark } from '../../../core/lane.ts';
import type { Context } from '../base/context.ts';
import { numbers } from '../base/values.ts';

export async function markLanes({ database, sql }: Context, limit: number, signal: AbortSignal): Promise<LaneMark[]> {
  return await database.transaction(signal, (session) => session.query<LaneMark>(sql.markLanes, [limit]));
}

export async function deleteLanes(
  { database, sql, lanes }: Context,
  marks: readonly LaneMark[],
  signal: AbortSignal,
): Promise<number> {
  const columns = [numbers(marks.map(({ id }) => id)), numbers(marks.map(({ mark }) => mark))];
  const deleted = await database.transaction(signal, (session) =>
    session.query<{ id: number }>(sql.deleteLanes, columns),
  );
  lanes.forget(deleted.map(({ id }) => id));
  return deleted.length;
}
