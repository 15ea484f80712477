/** What may happen to a store, as plain data. Jobs, workers and leases are named by a number that picks among those there are. */

import fc from 'fast-check';
import { CONDITIONS, type Condition } from '../../../src/core/dag/conditions.ts';
import type { Gang } from '../../../src/core/gang.ts';
import type { JobFilter } from '../../../src/core/job-filter.ts';
import type { ON_LIMIT } from '../../../src/core/meter.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import type { Unique } from '../../../src/core/unique.ts';

/** A duration in steps of the model's clock; `null`: none. */
type Steps = number | null;

export interface WantedJob {
  priority: number;
  queue: string;
  handler: string | null;
  requires: string[];
  resources: Record<string, number>;
  tags: string[];
  fairKey: string | null;
  limits: { key: string; max: number }[];
  /** So many starts in two steps. */
  rate: number | null;
  onLimit: (typeof ON_LIMIT)[number];
  maxAttempts: number;
  rerun: 'safe' | 'never';
  delay: Steps;
  /** By instant instead of delay. */
  byInstant: boolean;
  startTimeout: Steps;
  timeout: Steps;
  continueOnFailure: boolean;
  dependsOn: { job: number; condition: Condition }[];
  unique: { key: string; while: 'pending' | 'active' | 'time'; onConflict: Unique['onConflict'] } | null;
}

export interface WantedStep {
  /** Each picks among the steps before it. */
  parents: number[];
  condition: Condition;
  continueOnFailure: boolean;
  /** How many items; `null`: it is no group. */
  items: number | null;
  maxParallel: number | null;
  /** Of the jobs there are, one whose result it takes instead of running. */
  keepFrom: number | null;
}

export type Ending = Exclude<Outcome, { type: 'succeeded' | 'suspended' }>['type'];

export type Action =
  | { type: 'insert'; jobs: WantedJob[]; idempotency: { key: string; fingerprint: string } | null }
  | { type: 'workflow'; steps: WantedStep[] }
  | { type: 'register'; patient: boolean }
  | {
      type: 'claim';
      worker: number;
      limit: number;
      free: number;
      gpu: boolean;
      handlers: boolean;
      counted: boolean;
      prefetch: boolean;
    }
  | {
      /** Jobs that are alike come while the worker waits; then it claims the rest. */
      type: 'hand';
      job: WantedJob;
      count: number;
      worker: number;
      limit: number;
      free: number;
      gpu: boolean;
      handlers: boolean;
    }
  | { type: 'heartbeat'; worker: number; drops: boolean[] | null; seen: 'all' | 'earlier' | 'uncounted' }
  | { type: 'settle'; leases: number[] }
  | { type: 'checkpoint'; lease: number; upload: number; offset: number; text: string; complete: boolean }
  | { type: 'report'; lease: number; ending: Ending; fatal: boolean }
  | { type: 'cancel'; job: number; quiet: boolean }
  | { type: 'retry'; job: number }
  | { type: 'lose'; dead: number | null }
  | { type: 'expire' }
  | { type: 'skip' }
  | { type: 'limit'; key: string; max: number | null }
  | { type: 'close'; steps: number }
  | { type: 'stale'; changes: number[] }
  | { type: 'edit'; job: number; priority: number | null; queue: string | null; runIn: number | null }
  | { type: 'promote'; limit: number }
  | {
      type: 'queue';
      queue: string;
      paused: boolean | null;
      maxRunning: number | null | undefined;
      rate: number | null | undefined;
    }
  | { type: 'drain'; worker: number }
  | { type: 'undrain'; worker: number }
  | { type: 'leave'; worker: number }
  | { type: 'retire'; forgetAfter: number }
  | { type: 'prune'; keep: number; limit: number }
  | { type: 'delete'; jobs: readonly number[]; workflow: number }
  | { type: 'log'; lease: number; offset: number; text: string }
  | { type: 'look'; filter: JobFilter; job: number }
  | {
      type: 'gang';
      size: number;
      /** So many members fewer suffice, at least one. */
      spare: number;
      priority: number;
      resources: Record<string, number>;
      spread: 'pack' | 'spread';
      rule: Gang['onMemberFailure'];
    }
  | { type: 'place'; drops: boolean; early: boolean; late: boolean }
  | { type: 'judge' }
  | { type: 'wait'; steps: number };

const pick = fc.nat(1_000);
const condition = fc.constantFrom(...CONDITIONS);
const few = fc.integer({ min: 1, max: 3 });
const queue = fc.constantFrom('a', 'b');

function sometimes<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.option(value, { freq: 2 });
}

const [l1, l2] = [
  { key: 'l1', max: 1 },
  { key: 'l2', max: 1 },
] as const;

export const wantedJob: fc.Arbitrary<WantedJob> = fc.record({
  priority: fc.integer({ min: -1, max: 1 }),
  queue,
  handler: fc.constantFrom(null, null, 'h'),
  requires: fc.constantFrom<string[]>([], [], ['gpu']),
  resources: fc.constantFrom<Record<string, number>>({}, {}, { m: 1 }, { m: 2, n: 0 }),
  tags: fc.constantFrom<string[]>([], ['x'], ['x', 'y']),
  fairKey: fc.constantFrom(null, null, 'f', 'g'),
  limits: fc.constantFrom<WantedJob['limits']>([], [], [], [l1], [l1], [l2], [l1, l2], [{ ...l1, max: 2 }]),
  rate: fc.constantFrom(null, null, null, 1, 2),
  onLimit: fc.constantFrom('queue', 'queue', 'queue', 'skip'),
  maxAttempts: few,
  rerun: fc.constantFrom('safe', 'safe', 'never'),
  delay: fc.constantFrom(null, null, null, 1, 2, 3),
  byInstant: fc.boolean(),
  startTimeout: sometimes(few),
  timeout: fc.constantFrom(null, null, 2, 5),
  continueOnFailure: fc.constantFrom(false, false, true),
  dependsOn: fc.array(fc.record({ job: pick, condition }), { maxLength: 2 }),
  unique: sometimes(
    fc.record({
      key: fc.constantFrom('k1', 'k2'),
      while: fc.constantFrom('pending', 'active', 'time'),
      onConflict: fc.constantFrom('existing', 'replace', 'reject', 'supersede', 'after'),
    }),
  ),
});

const wantedStep: fc.Arbitrary<WantedStep> = fc.record({
  parents: fc.array(pick, { maxLength: 2 }),
  condition,
  continueOnFailure: fc.constantFrom(false, false, true),
  items: sometimes(fc.nat(3)),
  maxParallel: fc.constantFrom(null, 1, 2),
  keepFrom: fc.option(pick, { freq: 5 }),
});

const ending = fc.constantFrom<Ending>(
  'failed',
  'failed',
  'timed_out',
  'interrupted',
  'snoozed',
  'cancelled',
  'returned',
);

const filter: fc.Arbitrary<JobFilter> = fc.oneof(
  fc.constantFrom<JobFilter>({ statuses: ['pending'] }, { statuses: ['done', 'failed'] }, { reason: 'cancelled' }),
  fc.constantFrom<JobFilter>({ queue: 'a' }, { tags: ['x', 'y'] }, { text: 'EXIT' }, { queue: 'b', tags: ['x'] }),
);

export const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 14,
    arbitrary: fc.record({
      type: fc.constant('insert'),
      jobs: fc.array(wantedJob, { minLength: 1, maxLength: 3 }),
      idempotency: sometimes(
        fc.record({ key: fc.constantFrom('i1', 'i2'), fingerprint: fc.constantFrom('f1', 'f1', 'f1', 'f2') }),
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('workflow'),
      steps: fc.array(wantedStep, { minLength: 1, maxLength: 5 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('register'), patient: fc.boolean() }) },
  {
    weight: 16,
    arbitrary: fc.record({
      type: fc.constant('claim'),
      worker: pick,
      limit: few,
      free: fc.integer({ min: 1, max: 4 }),
      gpu: fc.constantFrom(true, true, false),
      handlers: fc.constantFrom(true, true, false),
      counted: fc.constantFrom(true, true, false),
      prefetch: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('hand'),
      job: wantedJob.map((job) => ({ ...job, dependsOn: [], unique: null })),
      count: few,
      worker: pick,
      limit: few,
      free: fc.integer({ min: 1, max: 4 }),
      gpu: fc.constantFrom(true, true, false),
      handlers: fc.constantFrom(true, true, false),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('heartbeat'),
      worker: pick,
      drops: fc.option(fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), { freq: 4 }),
      seen: fc.constantFrom('all', 'all', 'earlier', 'uncounted'),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('settle'),
      leases: fc.array(pick, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      type: fc.constant('report'),
      lease: pick,
      ending,
      fatal: fc.constantFrom(false, false, false, true),
    }),
  },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('cancel'), job: pick, quiet: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('retry'), job: pick }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('lose'), dead: sometimes(pick) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('expire') }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('skip') }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('limit'),
      key: fc.constantFrom('l1', 'l2'),
      max: fc.constantFrom(null, null, 1, 2),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('close'), steps: few }) },
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant('stale'), changes: fc.array(pick, { minLength: 1, maxLength: 4 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('edit'),
      job: pick,
      priority: fc.option(fc.integer({ min: -2, max: 2 })),
      queue: fc.option(queue),
      runIn: fc.option(fc.integer({ min: -3, max: 3 })),
    }),
  },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('promote'), limit: few }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('queue'),
      queue,
      paused: fc.constantFrom(null, false, false, true),
      maxRunning: fc.constantFrom(undefined, null, null, 0, 1, 2),
      rate: fc.constantFrom(undefined, undefined, null, null, 1, 2),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('drain'), worker: pick }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('undrain'), worker: pick }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('leave'), worker: pick }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('retire'), forgetAfter: fc.integer({ min: 1, max: 9 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('delete'),
      jobs: fc.array(pick, { minLength: 1, maxLength: 3 }),
      workflow: pick,
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('prune'), keep: fc.integer({ min: 1, max: 9 }), limit: few }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('log'),
      lease: pick,
      offset: fc.constantFrom(0, 4, 8),
      text: fc.constantFrom('abcd', 'efgh'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('checkpoint'),
      lease: pick,
      upload: fc.constantFrom(1, 2, 3),
      offset: fc.constantFrom(0, 4),
      text: fc.constantFrom('abcd', 'efgh'),
      complete: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('look'), filter, job: pick }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('gang'),
      size: few,
      spare: fc.constantFrom(0, 0, 1, 2),
      priority: fc.integer({ min: -1, max: 1 }),
      resources: fc.constantFrom<Record<string, number>>({}, { m: 1 }),
      spread: fc.constantFrom('pack', 'spread'),
      rule: fc.constantFrom('restart', 'restart', 'fail', 'continue'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('place'),
      drops: fc.constantFrom(false, false, false, true),
      early: fc.boolean(),
      late: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('judge') }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('wait'), steps: few }) },
);
