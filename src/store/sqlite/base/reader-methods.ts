/** The methods of the reader's thread: reads that may take their time. */

import { audit, auditOf } from '../cluster/audit.ts';
import { instances } from '../cluster/instances.ts';
import { duties } from '../cluster/leadership.ts';
import { notifications } from '../cluster/notices.ts';
import { findOld } from '../cluster/prune.ts';
import { queues } from '../cluster/queues.ts';
import { stats } from '../cluster/stats.ts';
import { tokens } from '../cluster/tokens.ts';
import { workers } from '../cluster/workers.ts';
import { hasIntake } from '../graph/adopt.ts';
import { definitions, definitionVersions } from '../graph/definitions.ts';
import { skippedSteps, steps, workflows } from '../graph/workflows.ts';
import { countAhead } from '../jobs/ahead.ts';
import { countAheadAt, holders, limits, rates } from '../jobs/meters.ts';
import { outlook } from '../jobs/outlook.ts';
import { readLog } from '../jobs/output.ts';
import { count, list } from '../reads/list.ts';
import { attempts, graphWork } from '../reads/reading.ts';
import { schedules, ticks } from '../schedules/list.ts';
import { recentTicks, runStates } from '../schedules/recent-ticks.ts';
import type { Methods } from './protocol.ts';

export const readerMethods = {
  list,
  count,
  attempts,
  countAhead,
  countAheadAt,
  holders,
  outlook,
  workflows,
  skippedSteps,
  steps,
  definitions,
  definitionVersions,
  schedules,
  ticks,
  recentTicks,
  runStates,
  readLog,
  hasIntake,
  graphWork,
  findOld,
  notifications,
  limits,
  rates,
  queues,
  workers,
  tokens,
  audit,
  auditOf,
  stats,
  duties,
  instances,
} satisfies Methods;

export type ReaderMethods = typeof readerMethods;
