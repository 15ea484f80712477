/** The parts of a simulation: schedulers, workers, clients and the store, and what happens to them. */

import type { Log } from '../../src/ops/log.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import type { Store } from '../../src/store/store.ts';
import { Chance } from './chance.ts';
import { Conditions } from './conditions.ts';
import type { Fault, Plan } from './plan.ts';
import { SchedulerProcess } from './scheduler-process.ts';
import { linkStore } from './store-link.ts';
import { Part, VirtualTime } from './virtual-time.ts';
import { Violation, Witness } from './witness.ts';
import { WorkerProcess } from './worker-process.ts';

/** A clock that is set for no longer than this is then set right; otherwise it stays as it is. */
const BRIEF_MS = 2_000;

export class World {
  readonly plan: Plan;
  readonly time: VirtualTime;
  readonly conditions: Conditions;
  readonly store: Store;
  readonly witness: Witness;
  readonly schedulers: SchedulerProcess[];
  readonly workers: WorkerProcess[];
  /** One line per event; `null` if nobody wants to read it. */
  readonly history: string[] | null;
  readonly #chance: Chance;
  readonly #storePart: Part;
  #clockWasSet = false;

  constructor(plan: Plan, { keepHistory }: { keepHistory: boolean }) {
    this.plan = plan;
    this.#chance = new Chance(plan.seed);
    this.history = keepHistory ? [] : null;
    this.time = new VirtualTime(this.#chance.fork('order'));
    this.conditions = new Conditions(plan);
    this.#storePart = this.newPart('store');
    this.store = openMemory({ clock: this.#storePart.clock });
    this.witness = new Witness({
      store: this.store,
      wasWell: (id) => this.#wasWell(id),
      clockWasSet: () => this.#clockWasSet,
    });
    const indexes = (count: number) => Array.from({ length: count }, (_, index) => index);
    this.schedulers = indexes(plan.schedulers).map((index) => new SchedulerProcess(index, this));
    this.workers = indexes(plan.workers.length).map((index) => new WorkerProcess(index, this));
  }

  newPart(name: string): Part {
    return new Part(name, this.time, this.#chance.fork(`part ${name}`));
  }

  note(who: string, what: string): void {
    this.history?.push(`${(this.time.now / 1_000).toFixed(6).padStart(11)}  ${who.padEnd(13)} ${what}`);
  }

  logOf(part: Part): Log {
    const write = (_: object, message: string) => this.note(part.name, `log: ${message}`);
    const fail = (fields: object, message: string) => {
      const { error } = fields as { error?: unknown };
      this.note(part.name, `log: ${message}${error instanceof Error ? `: ${error.message}` : ''}`);
    };
    const log: Log = { debug() {}, info: write, warn: fail, error: fail, child: () => log };
    return log;
  }

  storeFor(caller: Part): Store {
    return linkStore({
      store: this.store,
      storePart: this.#storePart,
      caller,
      exclusive: this.plan.exclusive,
      conditions: this.conditions,
      onCall: async (part, { name, args, answer }) => {
        if (this.history !== null) {
          this.note(part.name, `${name}${QUIET.has(name) ? '' : ` ${brief(args.slice(0, -1))} -> ${brief(answer)}`}`);
        }
        await this.witness.called(name, args, answer);
      },
      onHeard: (part, effects) => this.note(part.name, `heard of side effects ${brief(effects)}`),
    });
  }

  /** Starts all processes that do not run. */
  startAll(): void {
    for (const scheduler of this.schedulers) scheduler.start();
    for (const worker of this.workers) worker.start();
  }

  begin(fault: Fault): void {
    this.note('fault', `begins: ${JSON.stringify(fault)}`);
    this.conditions.begin(fault);
    switch (fault.type) {
      case 'crash_worker':
        return this.#worker(fault).crash();
      case 'lose_machine':
        return this.#worker(fault).loseMachine();
      case 'stop_worker':
        return this.#worker(fault).stop();
      case 'freeze_worker':
        return this.#worker(fault).freeze();
      case 'crash_scheduler':
        return this.#scheduler(fault).crash();
      case 'freeze_scheduler':
        return this.#scheduler(fault).freeze();
      case 'clock': {
        const parts = { worker: this.workers, scheduler: this.schedulers };
        const { part } = parts[fault.part][fault.target] as { part: Part };
        part.wallOffsetMs += fault.byMs;
        return;
      }
      case 'store_clock':
        this.#clockWasSet = true;
        this.#storePart.wallOffsetMs += fault.byMs;
    }
  }

  end(fault: Fault): void {
    this.note('fault', `ends: ${fault.type}`);
    this.conditions.end(fault);
    switch (fault.type) {
      case 'crash_worker':
      case 'lose_machine':
      case 'stop_worker':
        return this.#worker(fault).start();
      case 'freeze_worker':
        return this.#worker(fault).thaw();
      case 'crash_scheduler':
        return this.#scheduler(fault).start();
      case 'freeze_scheduler':
        return this.#scheduler(fault).thaw();
      case 'store_clock':
        if (this.#isBrief(fault)) this.#storePart.wallOffsetMs -= fault.byMs;
        return;
      case 'lossy':
      case 'cut':
      case 'stall':
        if (fault.target >= 0) this.#worker(fault).troubledAt = this.time.now;
    }
  }

  crashed(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.witness.violation ??= new Violation('no unhandled error', text);
  }

  /** What became due later while the clock was ahead by much would not come within the simulation, so it stays ahead. */
  #isBrief({ byMs, forMs }: { byMs: number; forMs: number }): boolean {
    return forMs <= BRIEF_MS && byMs <= 2 * this.plan.leaseMs;
  }

  #worker({ target }: { target: number }): WorkerProcess {
    return this.workers[target] as WorkerProcess;
  }

  #scheduler({ target }: { target: number }): SchedulerProcess {
    return this.schedulers[target] as SchedulerProcess;
  }

  #wasWell(workerId: number): boolean {
    const worker = this.workers.find((one) => one.workerId === workerId);
    return worker?.wasWell ?? false;
  }
}

/** Calls of idle loops, whose arguments would fill the history. */
const QUIET = new Set([
  'now',
  'lead',
  'addStats',
  'beatInstance',
  'findUnlocked',
  'graphWork',
  'openOperations',
  'notices',
]);

/** Jobs are named by id, attempt and status. */
function brief(value: unknown): string {
  const text = JSON.stringify(value, (key, item: unknown) => {
    if (HIDDEN.has(key) || item instanceof AbortSignal) return undefined;
    if (typeof item !== 'object' || item === null || !('queue' in item)) return item;
    const { id, attempt, status, name } = item as { id?: number; attempt?: number; status?: string; name?: string };
    return id === undefined ? name : `#${id}/${attempt}${status === undefined ? '' : ` ${status}`}`;
  });
  if (text === undefined) return 'nothing';
  return text.length > MAX_BRIEF ? `${text.slice(0, MAX_BRIEF)}…` : text;
}

/** Bytes, and what differs from process to process. */
const HIDDEN = new Set(['data', 'host', 'pid']);
const MAX_BRIEF = 240;
