import type { Surroundings } from '../../../core/capacity.ts';
import type { HeldPlace } from '../../../core/claim-places.ts';
import {
  surroundingsOf as around,
  reservationRow,
  timesOfJobs,
  timesRow,
  totalRow,
  totalsOfWorkers,
  useRow,
  usesOfWorkers,
  validReservations,
  withStarting,
} from '../../engine/reservations.ts';
import { timesOf } from '../../spec.ts';
import type { Context } from '../base/context.ts';
import { readShared } from '../base/shared.ts';

/** What a claim of this worker that starts these members of gangs must know before it can reserve. */
export function surroundingsOf(context: Context, workerId: number, members: readonly HeldPlace[]): Surroundings {
  const known = around(workerId, {
    totals: readShared(context, totalRow, totalsOfWorkers([workerId])),
    uses: readShared(context, useRow, usesOfWorkers([workerId])),
    timesOf: (jobId) => timesOf(readShared(context, timesRow, timesOfJobs([jobId]))[0]),
    reservations: readShared(context, reservationRow, validReservations),
  });
  return withStarting(known, members);
}
