/** Limits and rates: what is in use of each, and what happens when an attempt starts or ends. */

import type { MeterUse } from '../../../core/meter.ts';
import { useRow, usesFrom, usesOf } from '../../engine/meter-use.ts';
import type { Context } from '../base/context.ts';
import { readShared } from '../base/shared.ts';
import { sql } from '../base/sql.ts';

/** In the order of the names. */
export function meterUse(context: Context, names: readonly string[]): MeterUse[] {
  return names.map(usesFrom(readShared(context, useRow, usesOf(names))).useOf);
}

/** Attempts have ended. Jobs that wait for their limits may start; and for their rates, if they were returned unstarted. */
export function releaseMeters(
  { database }: Context,
  jobIds: readonly number[],
  { returned }: { returned: boolean },
): void {
  const names = jobIds
    .flatMap((id) => database.tuples<[string]>(sql.releaseMeters, id, returned ? 1 : 0))
    .map(([name]) => name);
  if (names.length > 0) database.run(sql.openParkings, JSON.stringify(names));
}
