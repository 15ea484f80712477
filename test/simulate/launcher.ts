/**
 * The launcher of a worker, with commands that only take time. It is a process of its own: it lives on when its worker
 * freezes or dies, and stops the commands by its own clock. A machine that is lost takes it along.
 */

import type { CommandLauncher } from '../../src/worker/launcher/launchers.ts';
import type { Behaviour } from './plan.ts';
import type { Part } from './virtual-time.ts';

type Start = Parameters<CommandLauncher['run']>[0];
type Listener = Parameters<CommandLauncher['run']>[1];
type Exit = Parameters<Listener['onExit']>[0];

interface Command {
  start: Start;
  listener: Listener;
  behaviour: Behaviour;
  stopped: 'asked' | 'deadline' | null;
  killAt: number;
  ended: boolean;
}

export interface LauncherEvents {
  began(jobId: number, attempt: number, finishes: boolean): Behaviour;
  ended(jobId: number, attempt: number, exit: Pick<Exit, 'exitCode' | 'stopped'>): void;
}

const OBEYS_MS = 20;

export class SimulatedLauncher implements CommandLauncher {
  readonly #part: Part;
  readonly #worker: Part;
  readonly #events: LauncherEvents;
  readonly #commands = new Map<number, Command>();
  #lastId = 0;
  #stopAt = Number.POSITIVE_INFINITY;
  #killBy = Number.POSITIVE_INFINITY;
  #abandoned = false;

  /** `part` is the launcher's own, `worker` that of its worker. */
  constructor(part: Part, worker: Part, events: LauncherEvents) {
    this.#part = part;
    this.#worker = worker;
    this.#events = events;
    worker.onDeath(() => this.#abandon());
  }

  run(start: Start, listener: Listener): number {
    const id = (this.#lastId += 1);
    this.#after(0, () => this.#start(id, start, listener));
    return id;
  }

  stop(id: number, graceMs: number): void {
    this.#after(0, () => {
      const command = this.#commands.get(id);
      if (command !== undefined) this.#end(command, 'asked', graceMs);
    });
  }

  credit(): void {}
  /** The simulated link offers no report of a launcher: lost workers are found by their lease alone. */
  setGone(): void {}

  setDeadline({ stopInMs, killInMs }: { stopInMs: number; killInMs: number }): void {
    this.#stopAt = this.#now + stopInMs;
    this.#killBy = this.#now + killInMs;
    this.#after(stopInMs, () => {
      if (this.#now < this.#stopAt) return;
      for (const command of this.#commands.values()) {
        if (!command.start.finish) this.#end(command, 'deadline', command.start.graceMs);
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abandon();
  }

  /** Ends all commands at once, as a lost machine or a sweep does. */
  killAll(): void {
    for (const command of this.#commands.values()) this.#gone(command, { exitCode: null, signal: 'SIGKILL' });
  }

  #start(id: number, start: Start, listener: Listener): void {
    if (this.#now >= this.#stopAt || this.#abandoned) {
      const exit = {
        exitCode: null,
        signal: null,
        usage: null,
        stopped: 'deadline',
        startError: null,
        left: 0,
      } as const;
      return this.#tell(() => listener.onExit(exit));
    }
    const behaviour = this.#events.began(...ids(start), start.finish);
    const command: Command = {
      start,
      listener,
      behaviour,
      stopped: null,
      killAt: Number.POSITIVE_INFINITY,
      ended: false,
    };
    this.#commands.set(id, command);
    if (behaviour.talks) this.#tell(() => listener.onOutput(Buffer.from('working\n')));
    const exitCode = behaviour.end === 'success' ? 0 : 7;
    this.#after(behaviour.runMs, () => {
      if (command.stopped === null) this.#gone(command, { exitCode, signal: null });
    });
  }

  #end(command: Command, why: 'asked' | 'deadline', graceMs: number): void {
    command.stopped ??= why;
    const latest = command.start.finish && !this.#abandoned ? Number.POSITIVE_INFINITY : this.#killBy;
    command.killAt = Math.min(command.killAt, this.#now + graceMs, latest);
    const inMs = command.killAt - this.#now;
    const endMs = command.behaviour.ignoresStop ? inMs : Math.min(inMs, OBEYS_MS);
    this.#after(endMs, () => this.#gone(command, { exitCode: null, signal: 'SIGTERM' }));
  }

  #abandon(): void {
    this.#abandoned = true;
    for (const command of this.#commands.values()) this.#end(command, 'deadline', command.start.graceMs);
  }

  #gone(command: Command, { exitCode, signal }: Pick<Exit, 'exitCode' | 'signal'>): void {
    if (command.ended) return;
    command.ended = true;
    for (const [id, other] of this.#commands) if (other === command) this.#commands.delete(id);
    const { stopped } = command;
    this.#events.ended(...ids(command.start), { exitCode, stopped });
    this.#tell(() => command.listener.onExit({ exitCode, signal, usage: null, stopped, startError: null, left: 0 }));
  }

  get #now(): number {
    return this.#part.time.now;
  }

  #after(ms: number, run: () => void): void {
    this.#part.time.after(ms, this.#part, run);
  }

  #tell(run: () => void): void {
    this.#part.time.after(0, this.#worker, run);
  }
}

function ids({ env }: Start): [jobId: number, attempt: number] {
  return [Number(env['WORKRON_JOB_ID']), Number(env['WORKRON_ATTEMPT'])];
}
