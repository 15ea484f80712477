/**
 * The statements that both SQL stores have, by theme: under the same names and in the same order in `sqlite/sql/` and
 * `postgres/sql/`. A missing twin does not compile. Statements that only one store needs follow the twins, with the reason.
 * SQLite works row by row; PostgreSQL works in sets and locks the rows it decides by. So a name in the plural takes a set in
 * PostgreSQL, and may be called once per row in SQLite.
 */

import { SCHEDULE_TWINS } from './schedule-statements.ts';

export const TWINS = {
  lanes: {
    lanesByKey: 'Reads lanes by key; unknown keys are left out.',
    unmarkLanes: 'Makes the marks of lanes void, because jobs are to be inserted.',
    markLanes: 'Marks lanes without pending jobs.',
    deleteLanes: 'Deletes marked lanes that nothing uses.',
    insertLanes: 'Creates lanes.',
  },
  turns: {
    addFairQueues: 'Makes the jobs of queues take turns from now on.',
    parkTurns: 'Puts claimable jobs last until they are given their turns.',
    presentTurns: 'The turn of the first job of a queue and priority.',
    lastTurns: 'The last turn that a fair key has in a queue and priority.',
    setTurns: 'Gives jobs their turns.',
  },
  insert: {
    insertJobs: 'Writes new jobs, in the order of the rows.',
    setRerunOf: 'Notes which job a new one repeats.',
    replaceJob: 'Overwrites a waiting job by a new one; its id and its attempts stay.',
    replaceLive: 'Resets the live row of a replaced job to that of a new one.',
  },
  keys: {
    keyHolders: 'The jobs that hold keys.',
    giveKeys: 'Gives a key to a job.',
    idempotentAnswer: 'The stored answer of an idempotency key.',
    endIdempotent: 'Stores the answer of an idempotency key.',
  },
  claim: {
    laneHeads: 'The most urgent claimable jobs of a lane.',
    pendingLane: 'The lane of a claimable job, and its parking.',
  },
  meters: {
    metersOfJobs: 'The limits and rates of jobs.',
    noteStarts: 'Records the attempts that start, for each of their meters.',
    trimStarts: 'Deletes starts that no window reaches any more.',
    releaseMeters: 'Deletes what ended attempts hold of their limits, and of their rates if they did not start.',
    openedParkings: 'Parkings that claims look at.',
    parkingById: 'A parking, open or closed, whose jobs may be claimed.',
    park: 'Closes parkings; makes those that do not exist.',
    parkJobs: 'Moves pending jobs to parkings.',
    unparkJobs: 'Moves jobs that are claimed back to their lanes.',
    dropParkings: 'Deletes parkings without jobs.',
  },
  contexts: {
    parentEnds: 'How the parents of jobs ended, and their results.',
    beginWorkflows: 'Marks workflows whose first job was claimed as started.',
  },
  heartbeat: {
    startJobs: 'Records that prefetched jobs have started.',
    renewWorker: 'Records a heartbeat; an offline worker is online again.',
    heldBy: 'The jobs that a worker holds.',
    renewLeases: 'Renews leases of single jobs.',
  },
  settle: {
    settledBefore: 'Jobs that an earlier call has settled; its answer was lost.',
  },
  change: {
    askToStop: 'Asks a running job to stop, unless it was asked.',
  },
  dependencies: {
    scopes: 'The workflow and the group of jobs.',
  },
  groups: {
    insertGroups: 'Writes groups with the source of their items.',
    insertItems: 'Writes the next items; an item is a copy of its group.',
  },
  workflows: {
    insertWorkflow: 'Writes a new workflow.',
  },
  output: {
    cutLog: 'Deletes chunks that lie wholly between the two kept ends of a log.',
    insertProbe: 'Writes as much as several jobs need, under the id of no job, to see whether it fits.',
    deleteProbe: 'Deletes that again.',
  },
  instances: {
    keepDuties: 'Renews the terms of duties.',
    takeDuties: 'Takes duties whose term is over.',
    resign: 'Ends all terms of an instance.',
    duties: 'All duties with their leaders.',
  },
  schedules: SCHEDULE_TWINS,
} as const;

/** The statements that the file of a theme must have; it may have more. */
export type Twins<Theme extends keyof typeof TWINS> = Record<keyof (typeof TWINS)[Theme], string> &
  Record<string, string>;
