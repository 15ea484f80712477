/**
 * Every statement of this store that is not built at run time, as a function of the quoted schema; by theme in
 * sql/. Sets come in as arrays (`unnest`) or, off the hot path, as JSON: one call, one plan, and no
 * limit on their number. Each statement reads the current time once, at its start.
 */

import { changeSql } from '../sql/change.ts';
import { claimSql } from '../sql/claim.ts';
import { contextsSql } from '../sql/contexts.ts';
import { dependenciesSql } from '../sql/dependencies.ts';
import { groupsSql } from '../sql/groups.ts';
import { heartbeatSql } from '../sql/heartbeat.ts';
import { insertSql } from '../sql/insert.ts';
import { instancesSql } from '../sql/instances.ts';
import { keysSql } from '../sql/keys.ts';
import { lanesSql } from '../sql/lanes.ts';
import { metersSql } from '../sql/meters.ts';
import { outputSql } from '../sql/output.ts';
import { schemaSql } from '../sql/schema.ts';
import { settleSql } from '../sql/settle.ts';
import type { Statement } from './database.ts';

export type Sql = Readonly<Record<keyof ReturnType<typeof texts>, Statement>>;

/**
 * Each statement with its name, under which a connection prepares it. Without `prepared` it has no name, for poolers that
 * do not support named statements.
 */
export function statements(schema: string, { prepared = true } = {}): Sql {
  const entries = Object.entries(texts(`"${schema}"`)).map(([name, text]) => [
    name,
    prepared ? { name, text } : { text },
  ]);
  return Object.fromEntries(entries) as Sql;
}

function texts(s: string) {
  return {
    ...lanesSql(s),
    ...insertSql(s),
    ...keysSql(s),
    ...claimSql(s),
    ...metersSql(s),
    ...contextsSql(s),
    ...heartbeatSql(s),
    ...settleSql(s),
    ...changeSql(s),
    ...dependenciesSql(s),
    ...groupsSql(s),
    ...outputSql(s),
    ...instancesSql(s),
    ...schemaSql(s),
  };
}
