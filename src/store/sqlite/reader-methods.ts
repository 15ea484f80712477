/** What the reader's thread does: reads that may take their time. */

import { hasIntake } from './adopt.ts';
import { graphWork } from './graph-work.ts';
import { instances } from './instances.ts';
import { duties } from './leadership.ts';
import { count, list } from './list.ts';
import { readLog } from './logs.ts';
import { notifications } from './notices.ts';
import type { Methods } from './protocol.ts';
import { findOld } from './prune.ts';
import { queues } from './queues.ts';
import { attempts, countAhead } from './reading.ts';
import { schedules } from './schedules/list-schedules.ts';
import { ticks } from './schedules/list-ticks.ts';
import { stats } from './stats.ts';
import { workers } from './workers.ts';
import { steps, workflows } from './workflows.ts';

export const readerMethods = {
  list,
  count,
  attempts,
  countAhead,
  workflows,
  steps,
  schedules,
  ticks,
  readLog,
  hasIntake,
  graphWork,
  findOld,
  notifications,
  queues,
  workers,
  stats,
  duties,
  instances,
} satisfies Methods;

export type ReaderMethods = typeof readerMethods;
