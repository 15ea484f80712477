/**
 * The statements that both SQL stores have, by theme: under the same names and in the same order in `sqlite/sql/` and
 * `postgres/sql/`, so that a missing twin does not compile and a diff of two files is what differs between the databases.
 *
 * What only one of them needs stands behind the twins, with the reason. SQLite works row by row: a call costs nothing
 * there, and nobody else writes. PostgreSQL works in sets, locks what it decides by, and has the time from the server. So a
 * name in the plural takes a set in PostgreSQL, and may be called once for each in SQLite.
 */

export const TWINS = {
  lanes: {
    lanesByKey: 'The lanes that are there of those asked for.',
    insertLanes: 'Makes lanes.',
  },
  turns: {
    addFairQueues: 'From now on the jobs of a queue take turns.',
    parkTurns: 'Puts claimable jobs last in line until they are given their turns.',
    presentTurns: 'The turn at the head of a line.',
    lastTurns: 'The last turn that a key has in a line.',
    setTurns: 'Gives jobs their turns.',
  },
  insert: {
    insertJobs: 'Writes new jobs, in the order of the rows.',
    replaceJob: 'A waiting job becomes what was asked for now; its id and its attempts stay.',
    replaceLive: 'How it stands, as if it were new.',
  },
  keys: {
    keyHolders: 'Who holds a key now.',
    giveKeys: 'Gives a key to a job.',
    freeKeys: 'Lets go of what jobs that ended held, but for what is held for a time.',
    idempotentAnswer: 'What was answered under a key before.',
    endIdempotent: 'Keeps the answer under its key.',
  },
  claim: {
    countRunning: 'How many jobs of a queue run; groups take no place from others.',
    laneHeads: 'The first of the jobs that wait in a lane.',
  },
  contexts: {
    parentEnds: 'How the parents of jobs ended, and their results.',
    beginWorkflows: 'Workflows whose first job was claimed have started.',
  },
  heartbeat: {
    startJobs: 'Jobs that were prefetched have started.',
    hearWorker: 'A worker was heard of; one that was thought gone is back.',
    heldBy: 'The jobs that a worker holds.',
    renewLeases: 'Leases that their holder renews one by one.',
  },
  settle: {
    settledBefore: 'What was settled by an earlier call whose answer was lost.',
  },
  change: {
    specs: 'What a job was asked to be.',
    editLive: 'How an edited job stands.',
  },
  dependencies: {
    markParents: 'Jobs have children now.',
    insertEdges: 'Writes edges, each with the state it begins in.',
    dropEdges: 'A replaced job no longer depends on anybody.',
    scopes: 'The workflow and the group of jobs.',
    edgesFrom: 'The edges to the children of jobs.',
    edgesInto: 'The edges to the parents of a job; an open one holds if the success of its parent was propagated.',
    setSkipReason: 'A job that was skipped is skipped for another reason.',
  },
  cascade: {
    cascadeHeads: 'Jobs whose state still has to reach their children.',
    queueCascade: 'Leaves the children of jobs to a later call.',
    dropCascade: 'Their children are up to date.',
  },
  groups: {
    insertGroups: 'Groups, with what their items come from.',
    groups: 'Groups with the counts of their items.',
    groupSource: 'What the items of a group come from.',
    setItems: 'The items that it is to have.',
    insertItems: 'Writes the next items; an item is a copy of its group.',
    writeGroups: 'How many items of a group ended, and how.',
    firstFailures: 'The first item of a group that failed.',
    resultOf: 'The result of a job, which may be the list of items.',
    dueGroups: 'Groups that have something to do.',
    graphWork: 'Which of the duties of graphs have something to do.',
  },
  workflows: {
    insertWorkflow: 'A new workflow.',
    workflows: 'Workflows by id.',
    writeWorkflows: 'How many steps ended, and how the workflow stands by it.',
  },
  notices: {
    notices: 'Those that are due, the oldest first.',
    postponeNotice: 'Looks at one later.',
    takeNotice: 'Takes one, for good.',
    raiseAlarm: 'A failure of this subject was told.',
    clearAlarm: 'It has recovered.',
    insertNotifications: 'The jobs that tell somebody.',
    notifications: 'Which jobs told of a job, a workflow or a schedule, and what a job told of.',
  },
  duties: {
    nextDue: 'When the next scheduled job is due.',
    promote: 'Scheduled jobs that are due become claimable.',
    expiredJobs: 'Jobs that did not start in their time.',
    lostJobs: 'Jobs whose worker was not heard of for its lease, or is known to be gone.',
    retireWorkers: 'Workers that were not heard of for their lease are offline.',
    forgetWorkers: 'Workers that have long been offline and hold nothing.',
  },
  prune: {
    oldWorkflows: 'Workflows that ended long ago and whose steps nobody waits for.',
    workflowJobs: 'All jobs of a workflow.',
    pruneWorkflow: 'Deletes a workflow, after its jobs.',
    pruneWorkflowNotifications: 'What told of it.',
    pruneJobs: 'Deletes jobs.',
    pruneKeys: 'Keys whose time is over.',
    pruneIdempotency: 'Answers that are no longer kept.',
    pruneAlarms: 'Alarms that nobody cleared.',
    pruneStats: 'Minutes that are no longer shown.',
  },
  read: {
    jobs: 'Jobs by id.',
    newestJobId: 'The newest job.',
    workerGone: 'When a worker that is offline can have claimed last.',
    attempts: 'The attempts of a job, in order.',
    countAhead: 'How many are taken before a waiting job, up to a limit.',
  },
  output: {
    cutLog: 'Deletes what lies wholly between the two ends of a log that are kept.',
    readLog: 'The pieces of a log from a place on.',
  },
  queues: {
    queueCounts: 'How many jobs of a queue stand how. A group runs without a worker, and is not counted as running.',
    queueRows: 'The settings of one queue or of all.',
    setQueue: 'Pauses, resumes or limits a queue.',
  },
  workers: {
    insertWorker: 'A worker has come.',
    workers: 'One worker or all, with how many jobs each runs.',
    drainWorker:
      'A worker is asked to go; it is remembered beside the state, for one that goes offline and comes back.',
    leaveWorker: 'A worker has gone.',
  },
  operations: {
    insertOperation: 'A new operation.',
    operation: 'One by id.',
    openOperations: 'Those that are not finished.',
    advanceOperation: 'It has come so far, if nobody else took it further.',
    stats: 'What was counted in some minutes.',
  },
  instances: {
    keepDuties: 'The term of a duty goes on.',
    takeDuties: 'A duty whose term is over is taken.',
    resign: 'All terms of an instance are over.',
    duties: 'Who has which duty.',
    beatInstance: 'An instance is alive.',
    instances: 'All that are known.',
    leaveInstance: 'One has gone.',
    forgetInstances: 'Those that were not heard of for long.',
  },
  intake: {
    intake: 'What is still to be judged, the oldest first.',
    takeIntake: 'It is judged now.',
    adoptLive: 'Such a job stands as one that is new.',
  },
  schedules: {
    schedule: 'One by name.',
    insertSchedule: 'A new one, unless there is one of that name.',
    updateSchedule: 'What it is to do from now on.',
    deleteSchedule: 'Deletes it; its ledger stays.',
    noteLast:
      'What came of its last ticks. The newest tick that ran may be older than one by hand or, of another key, one that was later.',
    insertLines: 'Lines that begin at an instant.',
    linesOf: 'The lines of a schedule.',
    moveLines: 'How far lines were judged, and when they are due next.',
    postponeLine: 'Looks at a line later.',
    deleteLines: 'Deletes lines.',
    lookDue: 'When the next line is due.',
    dueLines: 'Lines that are due.',
    openRuns: 'The runs of lines that have not ended, jobs before workflows, each by id.',
    unfinishedSteps: 'All steps of workflows but those that are done.',
    setLines: 'Jobs run for lines.',
    setWorkflowLine: 'A workflow runs for a line.',
    insertTicks: 'Writes ticks, in the order of the rows.',
    addToTicks: 'More ticks of the same verdict.',
    ticksByIds: 'Ticks by id.',
    ranTicks: 'Which ticks of a key ran, between two instants.',
    stops: 'Runs that are still to be stopped.',
    stopped: 'They are.',
    pruneTicks: 'Deletes the oldest ticks.',
  },
} as const;

/** What a theme's file must hold; it may hold more. */
export type Twins<Theme extends keyof typeof TWINS> = Record<keyof (typeof TWINS)[Theme], string> &
  Record<string, string>;
