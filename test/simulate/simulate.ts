/** Runs one plan to its end: faults first, then a quiet time in which all work must end. */

import { Clients } from './clients.ts';
import type { Plan } from './plan.ts';
import { installVirtualTime } from './virtual-time.ts';
import type { Violation } from './witness.ts';
import { World } from './world.ts';

installVirtualTime();

/** How often it is checked whether all work has ended, once faults have stopped. */
const CHECK_EVERY_MS = 5_000;
/** Much longer than one attempt takes with its time-out, its lease and the wait before it. */
const STUCK_MS = 300_000;

export interface Simulated {
  violation: Violation | undefined;
  /** Empty unless it was asked for. */
  history: readonly string[];
  events: number;
  virtualMs: number;
}

export async function simulate(plan: Plan, { keepHistory = false } = {}): Promise<Simulated> {
  const world = new World(plan, { keepHistory });
  const { time, witness } = world;
  const failed = () => witness.violation !== undefined;
  const clients = new Clients(world);
  world.startAll();
  for (const op of plan.ops) clients.plan(op);
  const director = world.newPart('director');
  for (const fault of plan.faults) {
    time.after(fault.at, director, () => world.begin(fault));
    time.after(fault.at + fault.forMs, director, () => world.end(fault));
  }
  const last = Math.max(plan.untilMs, ...plan.faults.map(({ at, forMs }) => at + forMs));
  await time.runUntil(last + 1, failed);
  world.note('director', 'faults have stopped');
  await settleDown(world, clients);
  if (!failed()) await witness.checkEnd();
  if (witness.violation !== undefined)
    world.note('VIOLATION', `${witness.violation.rule}: ${witness.violation.message}`);
  return { violation: witness.violation, history: world.history ?? [], events: time.events, virtualMs: time.now };
}

/** Lets all work end. Gives up when nothing has happened for long. */
async function settleDown(world: World, clients: Clients): Promise<void> {
  const { time, witness } = world;
  const failed = () => witness.violation !== undefined;
  let progress = -1;
  let since = time.now;
  do {
    world.startAll();
    // Calls of the faulty time may still arrive, and undo this.
    clients.run(() => clients.openQueues());
    clients.run(() => clients.endSchedules());
    clients.run(() => clients.undrainWorkers());
    await time.runUntil(time.now + CHECK_EVERY_MS, failed);
    if (witness.progress !== progress) since = time.now;
    progress = witness.progress;
  } while (!failed() && time.now - since < STUCK_MS && (witness.unfinished || clients.open > 0));
}
