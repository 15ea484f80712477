/** Every capability of a store that is written once for both databases. */

import { access } from './access.ts';
import { aheadMethods } from './ahead.ts';
import { changeMethods } from './changes.ts';
import { dutyMethods } from './duties.ts';
import { editMethods } from './edit.ts';
import { gangMethods } from './gangs.ts';
import { intakeMethods } from './graph/adopt.ts';
import { cascadeMethods } from './graph/cascade.ts';
import { expandMethods } from './graph/expand.ts';
import { workflowMethods } from './graph/workflows.ts';
import { registry } from './instances.ts';
import { listMethods } from './lists.ts';
import { meterMethods } from './meters.ts';
import { noticeMethods } from './notices.ts';
import { operations } from './operations.ts';
import { outputMethods } from './output.ts';
import { parkingMethods } from './parkings.ts';
import { pruneMethods } from './prune.ts';
import { queueMethods } from './queues.ts';
import { readMethods } from './reads.ts';
import { definitionMethods } from './schedules/definitions.ts';
import { ledgerMethods } from './schedules/ledger.ts';
import { scheduleMethods } from './schedules/schedules.ts';
import { tickMethods } from './schedules/tick.ts';
import { statistics } from './stats.ts';
import { stepMethods } from './steps.ts';
import { sweepMethods } from './sweep.ts';

import { workerMethods } from './workers.ts';

export const engine = {
  ...access,
  ...readMethods,
  ...listMethods,
  ...aheadMethods,
  ...operations,
  ...statistics,
  ...registry,
  ...outputMethods,
  ...pruneMethods,
  ...sweepMethods,
  ...queueMethods,
  ...workerMethods,
  ...changeMethods,
  ...editMethods,
  ...dutyMethods,
  ...gangMethods,
  ...meterMethods,
  ...parkingMethods,
  ...definitionMethods,
  ...scheduleMethods,
  ...tickMethods,
  ...ledgerMethods,
  ...noticeMethods,
  ...workflowMethods,
  ...intakeMethods,
  ...cascadeMethods,
  ...expandMethods,
  ...stepMethods,
};

export type Engine = typeof engine;
