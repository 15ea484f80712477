/**
 * The statements that both SQL stores have, by theme: under the same names and in the same order in `sqlite/sql/` and
 * `postgres/sql/`. A missing twin does not compile.
 *
 * Statements that only one store needs follow the twins, with the reason. SQLite works row by row: a call costs little
 * there, and there is one writer. PostgreSQL works in sets, locks the rows it decides by, and takes the time from the
 * server. So a name in the plural takes a set in PostgreSQL, and may be called once per row in SQLite.
 */

export const TWINS = {
  lanes: {
    lanesByKey: 'Reads lanes by key; unknown keys are left out.',
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
    freeKeys: 'Releases the keys of ended jobs, except those held for a time.',
    idempotentAnswer: 'The stored answer of an idempotency key.',
    endIdempotent: 'Stores the answer of an idempotency key.',
  },
  claim: {
    countRunning: 'The number of running jobs of a queue, without groups.',
    laneHeads: 'The most urgent claimable jobs of a lane.',
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
    specs: 'The specs of jobs.',
    editLive: 'Updates the live row of an edited job.',
  },
  dependencies: {
    markParents: 'Marks jobs as having children.',
    insertEdges: 'Writes edges, each with the state it begins in.',
    dropEdges: 'Deletes the edges to the parents of replaced jobs.',
    scopes: 'The workflow and the group of jobs.',
    edgesFrom: 'The edges to the children of jobs.',
    edgesInto: 'The edges to the parents of a job; an open one holds if the success of its parent was propagated.',
    setSkipReason: 'Changes the reason why an ended job was skipped.',
  },
  cascade: {
    cascadeHeads: 'Jobs whose state still has to reach their children.',
    queueCascade: 'Leaves the children of jobs to a later call.',
    dropCascade: 'Deletes cascade entries of jobs whose children are up to date.',
  },
  groups: {
    insertGroups: 'Writes groups with the source of their items.',
    groups: 'Groups with the counts of their items.',
    groupSource: 'The source of the items of a group.',
    setItems: 'Stores the list of items of a group.',
    insertItems: 'Writes the next items; an item is a copy of its group.',
    writeGroups: 'Writes the counts of ended items of groups.',
    firstFailures: 'The first item of a group that failed.',
    resultOf: 'The result of a job, which may be the list of items.',
    groupsNeedingItems: 'Groups whose next items can be inserted, or that can end.',
    graphWork: 'Which of adopt, cascade and expand have something to do.',
  },
  workflows: {
    insertWorkflow: 'Writes a new workflow.',
    workflows: 'Workflows by id.',
    writeWorkflows: 'Writes the counts of ended steps, and the status of the workflow.',
  },
  notices: {
    notices: 'Due notices, the oldest first.',
    postponeNotice: 'Postpones a notice.',
    takeNotice: 'Deletes a notice and returns it.',
    raiseAlarm: 'Raises the alarm of a subject.',
    clearAlarm: 'Clears the alarm of a subject.',
    insertNotifications: 'Writes notifications by the jobs that deliver them.',
    notifications: 'Notifications about a job, a workflow or a schedule, or the one that a job delivers.',
  },
  duties: {
    nextDue: 'When the next scheduled job is due.',
    promote: 'Makes due scheduled jobs claimable.',
    expiredJobs: 'Jobs that did not start before their start timeout.',
    lostJobs: 'Running jobs whose worker has lost its lease or is known to be dead.',
    retireWorkers: 'Marks workers without a lease as offline.',
    forgetWorkers: 'Deletes workers that have long been offline and hold nothing.',
  },
  prune: {
    oldWorkflows: 'Workflows beyond their retention whose steps have no waiting dependents.',
    workflowJobs: 'All jobs of a workflow.',
    keepOutcomes: 'Notes on ticks how their jobs ended, before the jobs are deleted.',
    keepWorkflowOutcome: 'Notes on a tick how its workflow ended, before the workflow is deleted.',
    pruneWorkflow: 'Deletes a workflow, after its jobs.',
    pruneWorkflowNotifications: 'Deletes the notifications about a workflow.',
    pruneJobs: 'Deletes jobs.',
    pruneKeys: 'Deletes expired unique keys.',
    pruneIdempotency: 'Deletes expired idempotency keys.',
    pruneAlarms: 'Deletes alarms that were never cleared.',
    pruneStats: 'Deletes statistics beyond their retention.',
  },
  read: {
    jobs: 'Jobs by id.',
    newestJobId: 'The id of the newest job.',
    workerGone: 'The latest instant at which an offline worker can have claimed.',
    attempts: 'The attempts of a job, in order.',
    countAhead: 'The number of jobs that are claimed before a waiting job, up to a limit.',
  },
  output: {
    cutLog: 'Deletes chunks that lie wholly between the two kept ends of a log.',
    readLog: 'The chunks of a log from an offset on.',
    insertProbe: 'Writes as much as several jobs need, under the id of no job, to see whether it fits.',
    deleteProbe: 'Deletes that again.',
  },
  checkpoint: {
    insertPiece: 'Writes a piece of a checkpoint; the same offset is stored once.',
    dropPieces: 'Deletes the pieces of a job except those of one upload and of its complete checkpoint.',
    uploadBytes: 'The number of bytes that an upload has.',
    setCheckpoint: 'Makes an upload the checkpoint of its job.',
    checkpoint: 'The complete checkpoint of a job.',
    readPiece: 'A piece of a complete checkpoint.',
  },
  queues: {
    queueCounts: 'The number of jobs of queues by status. A group runs without a worker and is not counted as running.',
    queueRows: 'The settings of one queue or of all.',
    setQueue: 'Pauses, resumes or limits a queue.',
    deleteQueue: 'Deletes the settings of a queue without unfinished jobs.',
  },
  workers: {
    insertWorker: 'Registers a worker.',
    workers: 'One worker or all, with the number of jobs that each runs.',
    countWorkers: 'The number of known workers.',
    crowdOutWorkers: 'Deletes the longest silent of the offline workers that hold nothing.',
    drainWorker:
      'Asks a worker to drain. Stored beside the state, so that it outlives an offline worker that comes back.',
    undrainWorker: 'Takes a drain back.',
    leaveWorker: 'Marks a worker that leaves as offline.',
  },
  operations: {
    insertOperation: 'A new operation.',
    operation: 'An operation by id.',
    openOperations: 'Operations that have not ended.',
    advanceOperation: 'Advances an operation if no other instance has moved its cursor.',
    stats: 'Statistics of a range of minutes.',
  },
  tokens: {
    tokens: 'All tokens.',
    validTokens: 'The tokens that are valid now.',
    currentToken: 'The valid token of a name that was not replaced by another.',
    retireToken: 'Marks the expired token of a name as revoked, which frees the name.',
    insertToken: 'A new token, unless the name is taken.',
    replaceToken: 'Ends a token after the time that it overlaps with its successor.',
    revokeTokens: 'Revokes the valid tokens of a name but one.',
    touchTokens: 'Notes that tokens were used.',
    pruneTokens: 'Deletes tokens that have long been invalid.',
  },
  instances: {
    keepDuties: 'Renews the terms of duties.',
    takeDuties: 'Takes duties whose term is over.',
    resign: 'Ends all terms of an instance.',
    duties: 'All duties with their leaders.',
    beatInstance: 'Records that an instance is alive.',
    instances: 'All instances.',
    leaveInstance: 'Deletes an instance.',
    forgetInstances: 'Deletes instances that have long been silent.',
  },
  intake: {
    intake: 'Rows that are still to be adopted, the oldest first.',
    takeIntake: 'Deletes a row and returns it, if no other process has.',
    adoptLive: 'Gives the job the live row of a new one.',
  },
  schedules: {
    schedule: 'A schedule by name.',
    insertSchedule: 'Creates a schedule, unless the name is taken.',
    updateSchedule: 'Updates a schedule.',
    deleteSchedule: 'Deletes a schedule; its ledger stays.',
    noteLast:
      'Updates the last run of a schedule. The newest tick that ran may be older than a manual run, or than a later tick of another key.',
    insertLines: 'Writes lines that begin at an instant.',
    linesOf: 'The lines of a schedule.',
    moveLines: 'Updates the cursors of lines and when they are due next.',
    postponeLine: 'Postpones a line.',
    deleteLines: 'Deletes lines.',
    lookDue: 'When the next line is due.',
    dueLines: 'Lines that are due.',
    openRuns: 'Unfinished runs of lines, jobs before workflows, each by id.',
    unfinishedSteps: 'Steps of workflows that are not done.',
    setLines: 'Records the lines that jobs run for.',
    setWorkflowLine: 'Records the line that a workflow runs for.',
    insertTicks: 'Writes ticks, in the order of the rows.',
    addToTicks: 'Adds ticks with the same verdict to a row.',
    ticksByIds: 'Ticks by id.',
    ranTicks: 'The ticks of a key that ran, between two instants.',
    stops: 'Ticks whose replaced runs have not been asked to stop.',
    stopped: 'Records that the replaced runs of ticks have been asked to stop.',
    pruneTicks: 'Deletes the oldest ticks.',
    recentTicks: 'The newest ticks of each of several schedules.',
    runStates: 'The state of the runs of ticks, or how a pruned run ended.',
  },
} as const;

/** The statements that the file of a theme must have; it may have more. */
export type Twins<Theme extends keyof typeof TWINS> = Record<keyof (typeof TWINS)[Theme], string> &
  Record<string, string>;
