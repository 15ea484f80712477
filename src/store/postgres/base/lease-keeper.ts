/** Renews the lease of a worker attached to the database from another thread, on a separate connection. */

import { WorkronError } from '../../../core/error.ts';
import type { LeaseKeeperConnection, LeaseKeeperPlan } from '../../../core/lease-keeper.ts';
import { silentLog } from '../../../ops/log.ts';
import { renewLeases } from '../jobs/heartbeat.ts';
import { Database } from './database.ts';
import { statements } from './sql.ts';

export interface DatabaseAddress {
  url: string;
  schema: string;
  preparedStatements: boolean;
}

export function postgresLeaseKeeper(place: DatabaseAddress): LeaseKeeperPlan {
  return { module: { file: new URL('./lease-keeper.ts', import.meta.url) }, data: place };
}

export function connect({ url, schema, preparedStatements: prepared }: DatabaseAddress): LeaseKeeperConnection {
  const database = Database.open({ url, poolSize: 1, log: silentLog });
  const context = { database, sql: statements(schema, { prepared }) };
  return {
    async renew(workerId, signal) {
      const renewed = await renewLeases(context, workerId, () => true, signal);
      if (renewed === undefined) throw new WorkronError('worker_not_found', `No worker ${workerId}`);
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
