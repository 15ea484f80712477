/**
 * Every statement of this store that is not built at run time; by theme in sql/. Sets come
 * in as JSON arrays (`json_each`): one call, one plan, and no limit on their number. Every call that writes is one
 * `begin immediate` transaction, so what a statement has read stays true until the commit.
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

export const sql = {
  ...lanesSql,
  ...insertSql,
  ...keysSql,
  ...claimSql,
  ...metersSql,
  ...contextsSql,
  ...heartbeatSql,
  ...settleSql,
  ...changeSql,
  ...dependenciesSql,
  ...groupsSql,
  ...outputSql,
  ...instancesSql,
  ...schemaSql,
};
