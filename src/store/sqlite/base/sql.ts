/**
 * Every statement of this store that is not built at run time; by theme in sql/, see ../statements.ts. Sets come
 * in as JSON arrays (`json_each`): one call, one plan, and no limit on their number. Every call that writes is one
 * `begin immediate` transaction, so what a statement has read stays true until the commit.
 */

import { auditSql } from '../sql/audit.ts';
import { cascadeSql } from '../sql/cascade.ts';
import { changeSql } from '../sql/change.ts';
import { checkpointSql } from '../sql/checkpoint.ts';
import { claimSql } from '../sql/claim.ts';
import { contextsSql } from '../sql/contexts.ts';
import { definitionsSql } from '../sql/definitions.ts';
import { dependenciesSql } from '../sql/dependencies.ts';
import { dutiesSql } from '../sql/duties.ts';
import { gangsSql } from '../sql/gangs.ts';
import { groupsSql } from '../sql/groups.ts';
import { heartbeatSql } from '../sql/heartbeat.ts';
import { insertSql } from '../sql/insert.ts';
import { instancesSql } from '../sql/instances.ts';
import { intakeSql } from '../sql/intake.ts';
import { keysSql } from '../sql/keys.ts';
import { lanesSql } from '../sql/lanes.ts';
import { metersSql } from '../sql/meters.ts';
import { noticesSql } from '../sql/notices.ts';
import { operationsSql } from '../sql/operations.ts';
import { outputSql } from '../sql/output.ts';
import { pruneSql } from '../sql/prune.ts';
import { queuesSql } from '../sql/queues.ts';
import { readSql } from '../sql/read.ts';
import { reservationsSql } from '../sql/reservations.ts';
import { schedulesSql } from '../sql/schedules.ts';
import { schemaSql } from '../sql/schema.ts';
import { secretsSql } from '../sql/secrets.ts';
import { sessionsSql } from '../sql/sessions.ts';
import { settleSql } from '../sql/settle.ts';
import { tokensSql } from '../sql/tokens.ts';
import { turnsSql } from '../sql/turns.ts';
import { workersSql } from '../sql/workers.ts';
import { workflowsSql } from '../sql/workflows.ts';

export const sql = {
  ...lanesSql,
  ...turnsSql,
  ...insertSql,
  ...keysSql,
  ...claimSql,
  ...reservationsSql,
  ...metersSql,
  ...gangsSql,
  ...contextsSql,
  ...heartbeatSql,
  ...settleSql,
  ...changeSql,
  ...definitionsSql,
  ...dependenciesSql,
  ...cascadeSql,
  ...groupsSql,
  ...workflowsSql,
  ...noticesSql,
  ...dutiesSql,
  ...pruneSql,
  ...readSql,
  ...outputSql,
  ...checkpointSql,
  ...queuesSql,
  ...workersSql,
  ...operationsSql,
  ...secretsSql,
  ...tokensSql,
  ...auditSql,
  ...sessionsSql,
  ...instancesSql,
  ...intakeSql,
  ...schedulesSql,
  ...schemaSql,
};
