import type { GraphWork } from '../../duty-store.ts';
import type { Context } from '../base/context.ts';

export async function graphWork({ database, sql }: Context, signal: AbortSignal): Promise<GraphWork> {
  const [row] = await database.query<GraphWork>(sql.graphWork, [], signal);
  return row as GraphWork;
}
