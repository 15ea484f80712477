import type { GraphWork } from '../../duty-store.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

export function graphWork({ database }: Context): GraphWork {
  const row = database.get<{ adopt: number; cascade: number; expand: number }>(sql.graphWork);
  return { adopt: row?.adopt === 1, cascade: row?.cascade === 1, expand: row?.expand === 1 };
}
