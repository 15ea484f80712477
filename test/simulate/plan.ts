/** What happens in a simulation: its parts, the calls of clients, and the faults, all drawn from the seed. */

import type { Gang } from '../../src/core/gang.ts';
import type { Limit, Rate } from '../../src/core/meter.ts';
import type { OverlapPolicy } from '../../src/core/schedule/schedule.ts';
import { Chance } from './chance.ts';

/** What one attempt of a job does. */
export interface Behaviour {
  runMs: number;
  end: 'success' | 'failure' | 'snooze' | 'fatal';
  /** Does not end when it is asked to. */
  ignoresStop: boolean;
  /** Writes output and reports progress. */
  talks: boolean;
}

export interface JobPlan {
  kind: 'command' | 'handler' | 'instant';
  queue: string;
  priority: number;
  maxAttempts: number;
  timeoutMs: number;
  killGraceMs: number;
  backoffMs: number;
  delayMs: number;
  startTimeoutMs: number | null;
  rerun: 'safe' | 'never';
  onDisconnect: 'stop' | 'finish';
  gpus: number;
  fairKey: string | null;
  limits: Limit[];
  rates: Rate[];
}

export type Op = { at: number } & (
  | { type: 'submit'; token: string; job: JobPlan; idempotent: boolean; after: string[]; unique: UniquePlan | null }
  | { type: 'burst'; token: string; count: number; queue: string; rerun: 'safe' | 'never' }
  | { type: 'gang'; token: string; job: JobPlan; size: number; min: number; rule: Gang['onMemberFailure'] }
  | { type: 'cancel'; token: string }
  | { type: 'retry'; token: string }
  | { type: 'queue'; queue: string; maxRunning: number | null; paused: boolean }
  | {
      type: 'schedule';
      name: string;
      everyMs: number;
      overlap: OverlapPolicy;
      catchup: 'none' | 'latest' | 'all';
      job: JobPlan;
    }
  | { type: 'run_schedule'; name: string }
  | { type: 'pause_schedule'; name: string; forMs: number }
  | { type: 'drain' | 'undrain'; worker: number }
);

export interface UniquePlan {
  key: string;
  while: 'pending' | 'active';
  onConflict: 'existing' | 'replace' | 'reject';
}

/** `target` is the number of a worker or scheduler. */
export type Fault = { at: number; forMs: number } & (
  | { type: 'crash_worker' | 'lose_machine' | 'freeze_worker' | 'stop_worker'; target: number }
  | { type: 'crash_scheduler' | 'freeze_scheduler'; target: number }
  /** The share of messages of this worker, or of the clients (-1), that suffer. */
  | { type: 'lossy'; target: number; share: number }
  | { type: 'cut'; target: number }
  /** Messages arrive when it is over, in any order, whether or not their sender still waits for an answer. */
  | { type: 'stall'; target: number }
  | { type: 'store_away'; hangs: boolean }
  | { type: 'store_slow'; upToMs: number }
  | { type: 'store_lossy'; share: number }
  /** Never far back: what is due would wait for as long. */
  | { type: 'store_clock'; byMs: number }
  | { type: 'clock'; part: 'worker' | 'scheduler'; target: number; byMs: number }
);

export interface Plan {
  seed: number;
  leaseMs: number;
  /** One process owns the store, as on SQLite; else several share it, as on PostgreSQL. */
  exclusive: boolean;
  schedulers: number;
  workers: {
    slots: number;
    gpus: number /** Runs in the process of this scheduler; `null`: over the network. */;
    attachedTo: number | null;
  }[];
  /** Clients submit and faults occur until then. */
  untilMs: number;
  ops: Op[];
  faults: Fault[];
}

/** The seeds with gangs, modulo 12. The others have the histories that they had before there were any. */
const WITH_GANGS: readonly number[] = [0, 7];

const QUEUES = ['default', 'default', 'limited', 'other'];

export function planOf(seed: number): Plan {
  const chance = new Chance(seed);
  const leaseMs = chance.pick([5_000, 8_000, 15_000]);
  const exclusive = chance.happens(0.2);
  const schedulers = exclusive ? 1 : chance.int(1, 3);
  const workers = Array.from({ length: chance.int(1, 3) }, () => ({
    slots: chance.int(1, 4),
    gpus: chance.int(0, 2),
    attachedTo: chance.happens(0.3) ? chance.int(0, schedulers - 1) : null,
  }));
  // Somebody must be able to run every job.
  (workers[0] as Plan['workers'][number]).gpus = 2;
  const untilMs = leaseMs * chance.int(3, 6);
  const base = { seed, leaseMs, exclusive, schedulers, workers, untilMs };
  const gangs = WITH_GANGS.includes(seed % 12) ? gangsOf(chance.fork('gangs'), base) : [];
  const ops = [...opsOf(chance.fork('ops'), base), ...gangs];
  return { ...base, ops, faults: faultsOf(chance.fork('faults'), base) };
}

type Base = Omit<Plan, 'ops' | 'faults'>;

function opsOf(chance: Chance, base: Base): Op[] {
  const { leaseMs, untilMs } = base;
  const ops: Op[] = [];
  const tokens: string[] = [];
  const at = () => chance.int(0, untilMs);
  if (chance.happens(0.5))
    ops.push({ type: 'queue', queue: 'limited', maxRunning: chance.int(1, 2), paused: false, at: 0 });
  for (let index = chance.int(4, 14); index > 0; index -= 1) {
    const token = `j${tokens.length}`;
    const parents = tokens.length > 0 && chance.happens(0.2) ? [chance.pick(tokens)] : [];
    const unique: UniquePlan | null = chance.happens(0.2)
      ? {
          key: chance.pick(['k1', 'k2']),
          while: chance.pick(['pending', 'active']),
          onConflict: chance.pick(['existing', 'replace', 'reject']),
        }
      : null;
    const job = jobPlan(chance, leaseMs);
    if (parents.length > 0 && job.kind === 'command') job.kind = 'handler';
    ops.push({ type: 'submit', token, job, idempotent: chance.happens(0.5), after: parents, unique, at: at() });
    tokens.push(token);
  }
  if (chance.happens(0.3)) {
    ops.push({
      type: 'burst',
      token: `b${tokens.length}`,
      count: chance.int(15, 40),
      queue: chance.pick(QUEUES),
      rerun: chance.happens(0.3) ? 'never' : 'safe',
      at: at(),
    });
  }
  for (let index = chance.int(0, 4); index > 0; index -= 1)
    ops.push({ type: 'cancel', token: chance.pick(tokens), at: at() });
  for (let index = chance.int(0, 3); index > 0; index -= 1)
    ops.push({ type: 'retry', token: chance.pick(tokens), at: at() });
  if (chance.happens(0.3)) {
    const queue = chance.pick(QUEUES);
    const since = at();
    ops.push({
      type: 'queue',
      queue,
      maxRunning: chance.happens(0.5) ? chance.int(1, 3) : null,
      paused: true,
      at: since,
    });
    ops.push({
      type: 'queue',
      queue,
      maxRunning: chance.happens(0.5) ? chance.int(1, 3) : null,
      paused: false,
      at: since + leaseMs,
    });
  }
  if (chance.happens(0.5)) addSchedule(chance, base, ops);
  if (chance.happens(0.1)) {
    const drain = { worker: chance.int(0, base.workers.length - 1), at: at() };
    ops.push({ type: 'drain', ...drain });
    if (chance.happens(0.5)) ops.push({ type: 'undrain', ...drain, at: drain.at + chance.int(0, leaseMs) });
  }
  addMeters(base, ops);
  return ops.sort((a, b) => a.at - b.at);
}

function addSchedule(chance: Chance, { leaseMs, untilMs }: Base, ops: Op[]): void {
  const name = 's1';
  const since = chance.int(0, Math.floor(untilMs / 2));
  const overlap = chance.pick(['skip', 'skip', 'buffer_one', 'allow', 'cancel_other'] as const);
  const catchup = chance.pick(['none', 'latest', 'all'] as const);
  const job: JobPlan = {
    ...jobPlan(chance, leaseMs),
    kind: chance.pick(['command', 'handler']),
    delayMs: 0,
    gpus: 0,
    startTimeoutMs: null,
  };
  ops.push({ type: 'schedule', name, everyMs: chance.int(1, 6) * 1_000, overlap, catchup, job, at: since });
  for (let index = chance.int(0, 3); index > 0; index -= 1) {
    ops.push({ type: 'run_schedule', name, at: chance.int(since + 1_000, untilMs + 1_000) });
  }
  if (chance.happens(0.3)) {
    ops.push({
      type: 'pause_schedule',
      name,
      forMs: chance.int(1_000, 20_000),
      at: chance.int(since + 1_000, untilMs + 1_000),
    });
  }
}

function jobPlan(chance: Chance, leaseMs: number): JobPlan {
  const kind = chance.pick(['command', 'command', 'handler', 'handler', 'instant'] as const);
  return {
    kind,
    queue: chance.pick(QUEUES),
    priority: chance.int(-1, 1),
    maxAttempts: chance.int(1, 4),
    timeoutMs: chance.pick([3_000, 20_000, 3 * leaseMs]),
    killGraceMs: chance.pick([100, 2_000, 10_000]),
    backoffMs: chance.pick([0, 500, 4_000]),
    delayMs: chance.happens(0.2) ? chance.int(1, 10_000) : 0,
    startTimeoutMs: chance.happens(0.1) ? chance.int(1_000, 20_000) : null,
    rerun: chance.happens(0.2) ? 'never' : 'safe',
    onDisconnect: chance.happens(0.15) ? 'finish' : 'stop',
    gpus: kind !== 'instant' && chance.happens(0.15) ? chance.int(1, 2) : 0,
    fairKey: chance.happens(0.2) ? chance.pick(['a', 'b']) : null,
    limits: [],
    rates: [],
  };
}

/** Gives most jobs of a fifth of the seeds limits or rates. All jobs of a seed that have a key have the same rule for it. */
function addMeters({ seed }: Base, ops: readonly Op[]): void {
  // By the last digit: other seeds keep the history that docs/reliability.md names them for.
  if (seed % 10 !== 5 && seed % 10 !== 7) return;
  const chance = new Chance(seed).fork('meters');
  const limits = ['k1', 'k2'].map((key) => ({ key, max: chance.int(1, 2) }));
  const rate = { key: 'api', limit: chance.int(1, 3), perMs: chance.int(1, 4) * 1_000, burst: chance.int(0, 2) };
  for (const op of ops) {
    if (op.type !== 'submit' && op.type !== 'schedule') continue;
    op.job.limits = chance.pick([[], limits.slice(0, 1), limits.slice(0, 1), limits]);
    op.job.rates = chance.happens(0.4) ? [rate] : [];
  }
}

/** Most attempts are short and succeed; few last for several leases. The last ones always succeed, so that all jobs end. */
export function behaviourOf(plan: Plan, token: string, attempt: number): Behaviour {
  const chance = new Chance(plan.seed).fork(`${token}/${attempt}`);
  const runMs = chance.happens(0.3)
    ? chance.int(plan.leaseMs / 2, plan.leaseMs * 3)
    : chance.happens(0.5)
      ? chance.int(0, 50)
      : chance.int(50, 4_000);
  const draw = chance.next();
  const end = attempt > 5 || draw < 0.65 ? 'success' : draw < 0.88 ? 'failure' : draw < 0.95 ? 'snooze' : 'fatal';
  return { runMs, end, ignoresStop: chance.happens(0.15), talks: chance.happens(0.2) };
}

/** Gangs that all workers together can hold. */
function gangsOf(chance: Chance, { leaseMs, untilMs, workers }: Base): Op[] {
  const slots = workers.reduce((sum, worker) => sum + worker.slots, 0);
  const ops: Op[] = [];
  for (let index = chance.int(1, 3); index > 0; index -= 1) {
    const token = `g${index}`;
    const size = chance.int(1, slots);
    const rule = chance.pick<Gang['onMemberFailure']>(['restart', 'restart', 'restart', 'fail', 'continue']);
    const min = rule === 'continue' || chance.happens(0.5) ? size : chance.int(1, size);
    const maxAttempts = rule === 'restart' ? chance.int(2, 4) : 1;
    const alone = { queue: 'gangs', gpus: 0, startTimeoutMs: null, rerun: 'safe', fairKey: null } as const;
    const job: JobPlan = { ...jobPlan(chance, leaseMs), ...alone, limits: [], rates: [], maxAttempts };
    ops.push({ type: 'gang', token, job, size, min, rule, at: chance.int(0, untilMs) });
    if (chance.happens(0.2)) ops.push({ type: 'cancel', token, at: chance.int(0, untilMs) });
  }
  return ops;
}

function faultsOf(chance: Chance, base: Base): Fault[] {
  const { leaseMs, untilMs, schedulers, workers } = base;
  return Array.from({ length: chance.int(1, 6) }, (): Fault => {
    const at = chance.int(0, untilMs);
    const forMs = chance.pick([chance.int(10, 2_000), chance.int(10, leaseMs), chance.int(leaseMs, 2 * leaseMs)]);
    const worker = chance.int(0, workers.length - 1);
    const scheduler = chance.int(0, schedulers - 1);
    const byMs = chance.pick([-1, 1]) * chance.pick([500, Math.floor(leaseMs / 2), 2 * leaseMs, 3_600_000]);
    return chance.pick<Fault>([
      { type: 'crash_worker', target: worker, at, forMs },
      { type: 'lose_machine', target: worker, at, forMs },
      { type: 'freeze_worker', target: worker, at, forMs: chance.happens(0.5) ? forMs : forMs + leaseMs },
      { type: 'stop_worker', target: worker, at, forMs },
      { type: 'crash_scheduler', target: scheduler, at, forMs },
      { type: 'freeze_scheduler', target: scheduler, at, forMs },
      {
        type: 'lossy',
        target: chance.int(-1, workers.length - 1),
        share: chance.pick([0.1, 0.3, 0.6]),
        at,
        forMs: forMs * 2,
      },
      { type: 'cut', target: worker, at, forMs },
      { type: 'stall', target: worker, at, forMs },
      { type: 'store_away', hangs: chance.happens(0.5), at, forMs },
      { type: 'store_slow', upToMs: chance.pick([300, 3_000]), at, forMs },
      { type: 'store_lossy', share: chance.pick([0.05, 0.2]), at, forMs },
      { type: 'store_clock', byMs: Math.max(byMs, -2 * leaseMs), at, forMs },
      { type: 'clock', part: 'worker', target: worker, byMs, at, forMs },
      { type: 'clock', part: 'scheduler', target: scheduler, byMs, at, forMs },
    ]);
  }).sort((a, b) => a.at - b.at);
}
