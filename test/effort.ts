/** Sizes of the larger tests: small ones for `npm test`, large ones for `npm run test:full`. */

import { EVERYDAY } from '../contract/effort.ts';

const full = process.env['WORKRON_TEST_EFFORT'] === 'full';

export const effort = {
  full,
  /** How long a test waits for a condition before it fails. */
  waitMs: full ? 900_000 : 120_000,
  /** Jobs that three workers share. */
  sharedJobs: full ? 5_000 : 150,
  /** Races of cancel, settle and reap on one job. */
  races: full ? 10_000 : 60,
  /** Random sequences of store calls compared across stores, and their length. */
  modelRuns: full ? 300 : 6,
  modelLength: full ? 60 : 40,
  /** Recorded sequences that are replayed on each database, and in memory. */
  recorded: full ? 2_000 : 8,
  recordedInMemory: full ? 2_000 : 60,
  /** Random graphs whose counters are compared with a rescan. */
  dagRuns: full ? 2_000 : 100,
  /** Random graphs that run on each store, and their size. */
  dagStoreRuns: full ? 60 : 3,
  dagNodes: full ? 200 : 30,
  /** Races of settle, submit and cancel on the same edges. */
  graphRaces: full ? 1_000 : EVERYDAY.graphRaces,
  /** The same races on PostgreSQL, in overlapping transactions. */
  edgeRaces: full ? 10_000 : 40,
  /** Rounds of each worker in a wide graph. */
  fanRounds: full ? 300 : 15,
  /** Steps of a large graph, and items of a large group. */
  graphNodes: full ? 100_000 : 1_500,
  graphItems: full ? 10_000 : 1_000,
  /** After this time no new sequence is started and a failed one is not shrunk. */
  modelMs: full ? 900_000 : 60_000,
  /** Jobs or steps in the largest request. */
  largestRequest: full ? 100_000 : 20_000,
  /** Requests per route in the fuzz test of the API. */
  fuzzPerRoute: full ? 200 : 10,
  /** Jobs in all states before the scheduler is killed. */
  killedJobs: full ? 1_000 : 120,
  /** Bytes that one noisy command prints. */
  noisyBytes: full ? 100_000_000 : 15_000_000,
  /** Commands that run at once. */
  commandsAtOnce: full ? 500 : 40,
  /** Commands that one launcher runs before its files are counted. */
  commandsInTurn: full ? 1_000 : 40,
  /** Waiting jobs of one fair key, and fair keys of one queue. */
  fairJobs: full ? 10_000 : EVERYDAY.fairJobs,
  fairKeys: full ? 10_000 : EVERYDAY.fairKeys,
  /** Random states in which `outlook` is compared with claims. */
  outlooks: full ? 150 : EVERYDAY.outlooks,
  /** Jobs of a worker that is killed while it has many prefetched jobs. */
  aheadJobs: full ? 5_000 : 600,
  /** How often a worker is killed while it gives prefetched jobs back. */
  leaveKills: full ? 30 : 1,
  /** How often a process is killed while it accepts submissions. */
  submitKills: full ? 30 : 1,
  /** Jobs of a full key that wait while claims are measured. */
  parkedJobs: full ? 100_000 : 5_000,
  /** How often a process is killed while it runs jobs with limits. */
  limitKills: full ? 20 : 3,
  /** Jobs with a rate that several schedulers start while they are killed. */
  ratedJobs: full ? 150 : 24,
  /** Random gangs on workers that are killed. */
  gangs: full ? 10_000 : 100,
  /** How often the example application is killed. */
  shopKills: full ? 500 : 3,
  /** Random cron expressions compared with brute force. */
  cronExpressions: full ? 1_000 : 32,
  /** Worker processes that share jobs through three schedulers, and the number of jobs. */
  clusterWorkers: full ? 8 : 2,
  clusterJobs: full ? 20_000 : 200,
  /** Schedules with a tick per second, how long schedulers are killed and frozen meanwhile, and the number of workers. */
  tickSchedules: full ? 200 : 5,
  tickMs: full ? 120_000 : 1_000,
  tickWorkers: full ? 4 : 1,
  /** Schedules that are due at the same instant. */
  dueAtOnce: full ? 100_000 : 3_500,
  /** Seeds of the simulation. */
  simulatedSeeds: full ? 2_000 : 200,
};
