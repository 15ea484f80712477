/** Starts trees, stops them, and makes sure that no process of an ended tree is left. */

import type { CommandUser } from './command-user.ts';
import { createForest, type Forest, type Left } from './forest.ts';
import type { DeadlineMessage, ExitMessage, StartMessage } from './frames.ts';
import { OutputPipes } from './output-pipes.ts';
import { believedUsers, canSignal, identityOf, TREE_MARK } from './process-table.ts';
import type { ShellStarter } from './shell-starter.ts';
import { Tree } from './tree.ts';

/** How long to wait after SIGKILL for a process that does not die, because of a broken disk for instance. */
const UNKILLABLE_MS = 10_000;
const FIRST_SCAN_MS = 2;
const MAX_SCAN_MS = 50;

interface SupervisorOptions {
  /** The folder for the pipes. */
  folder: string;
  /** True if the launcher runs in its own PID namespace. */
  enclosed: boolean;
  /** The control group of the launcher; `null`: it has none. */
  group: string | null;
  /** The environment of every command. */
  env: Readonly<Record<string, string | undefined>>;
  starter: ShellStarter;
  /** Whom commands run as, if not as the user of this process. */
  user: CommandUser | null;
  monotonicMs: () => number;
  onOutput: (id: number, data: Buffer) => void;
  onExit: (id: number, exit: ExitMessage) => void;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #forest: Forest;
  readonly #pipes: OutputPipes;
  readonly #marks: string;
  readonly #trees = new Map<number, Tree>();
  /** Trees that must end, until none of their processes is left. */
  readonly #ending = new Set<Tree>();
  #scanningSoon = false;
  #later: NodeJS.Timeout | undefined;
  #scanMs = FIRST_SCAN_MS;
  #stopAt = Number.POSITIVE_INFINITY;
  #killBy = Number.POSITIVE_INFINITY;
  /** True once the worker is gone. */
  #abandoned = false;
  #emptied: (() => void) | undefined;
  /** True once a process could not be killed. */
  #hasSurvivors = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#forest = createForest({
      enclosed: options.enclosed,
      adopts: options.starter.adopts,
      helpers: options.starter.helpers,
      group: options.group,
      believed: believedUsers(options.user),
    });
    this.#pipes = new OutputPipes(options.folder, options.user);
    // If the worker itself runs as a command, both marks must be set.
    const outer = options.env[TREE_MARK];
    this.#marks = `${outer === undefined ? '' : `${outer} `}${identityOf(process.pid)}`;
  }

  start(id: number, message: StartMessage): void {
    if (this.#now() >= this.#stopAt) return this.#notStarted(id, null);
    const marks = `${this.#marks}.${id}`;
    const tree: Tree = new Tree({
      id,
      mark: marks.slice(marks.lastIndexOf(' ') + 1),
      message,
      env: { ...this.#options.env, ...message.env, [TREE_MARK]: marks },
      starter: this.#options.starter,
      pipes: this.#pipes,
      events: {
        onOutput: (data) => this.#options.onOutput(id, data),
        onStart: () => this.#forest.add(tree),
        onRefused: (reason) => this.#refused(tree, reason),
        onExit: () => this.#wantGone(tree),
        onDrained: () => this.#gone(tree),
      },
    });
    this.#trees.set(id, tree);
    this.#forest.add(tree);
    try {
      tree.start();
    } catch (error) {
      this.#refused(tree, error instanceof Error ? error.message : String(error));
    }
  }

  stop(id: number, graceMs: number): void {
    const tree = this.#trees.get(id);
    if (tree !== undefined) this.#end(tree, 'asked', graceMs);
  }

  addCredit(id: number, bytes: number): void {
    this.#trees.get(id)?.addCredit(bytes);
  }

  setDeadline({ stopInMs, killInMs }: DeadlineMessage): void {
    const now = this.#now();
    this.#stopAt = now + stopInMs;
    this.#killBy = now + killInMs;
  }

  /** Stops the trees that must not run past the deadline. To be called at short intervals. */
  watchDeadline(): void {
    if (this.#now() < this.#stopAt) return;
    for (const tree of this.#trees.values()) if (!tree.finishes) this.#end(tree, 'deadline', tree.graceMs);
  }

  /**
   * Stops everything within the worker's lease, because the worker is gone. Resolves once that is done: true if no process
   * is left of any tree, false if one could not be killed.
   */
  async abandon(): Promise<boolean> {
    this.#abandoned = true;
    for (const tree of this.#trees.values()) this.#end(tree, 'deadline', tree.graceMs);
    await new Promise<void>((resolve) => {
      if (this.#trees.size === 0) resolve();
      else this.#emptied = resolve;
    });
    return !this.#hasSurvivors;
  }

  #end(tree: Tree, why: ExitMessage['stopped'], graceMs: number): void {
    if (!tree.exited) tree.stopped ??= why;
    tree.killAt = Math.min(tree.killAt ?? Number.POSITIVE_INFINITY, this.#now() + graceMs);
    this.#wantGone(tree);
  }

  #wantGone(tree: Tree): void {
    // It could not be killed and was given up, but died later.
    if (!this.#trees.has(tree.id)) return;
    this.#ending.add(tree);
    this.#scanMs = FIRST_SCAN_MS;
    this.#scanSoon();
  }

  /** Trees that end in one turn of the event loop share one reading of the process table. */
  #scanSoon(): void {
    clearTimeout(this.#later);
    if (this.#scanningSoon) return;
    this.#scanningSoon = true;
    setImmediate(() => {
      this.#scanningSoon = false;
      this.#endTrees();
    });
  }

  #endTrees(): void {
    clearTimeout(this.#later);
    this.#forest.scan();
    const now = this.#now();
    let nextKill = Number.POSITIVE_INFINITY;
    for (const tree of this.#ending) {
      tree.killAt ??= now + tree.graceMs;
      const killAt = this.#killAt(tree.killAt, tree);
      if (tree.starting) {
        if (now >= killAt) this.#options.starter.giveUpStarts();
        continue;
      }
      const left = this.#forest.left(tree);
      if ((tree.exited && left.length === 0) || now >= killAt + UNKILLABLE_MS) {
        this.#ending.delete(tree);
        tree.finish();
      } else if (now >= killAt) {
        kill(tree, left);
      } else {
        ask(tree, left);
        nextKill = Math.min(nextKill, killAt - now);
      }
    }
    if (this.#ending.size === 0) return;
    this.#later = setTimeout(() => this.#endTrees(), Math.min(this.#scanMs, Math.ceil(nextKill)));
    this.#scanMs = Math.min(this.#scanMs * 2, MAX_SCAN_MS);
  }

  /** Never later than the end of the lease, unless the command may outlive it. */
  #killAt(killAt: number, tree: Tree): number {
    return tree.finishes && !this.#abandoned ? killAt : Math.min(killAt, this.#killBy);
  }

  #gone(tree: Tree): void {
    const left = this.#forest.left(tree).length;
    if (left > 0) this.#hasSurvivors = true;
    else this.#options.starter.forget(tree.id);
    this.#forest.remove(tree);
    this.#trees.delete(tree.id);
    const { exitCode, signal, usage, stopped } = tree;
    this.#options.onExit(tree.id, { exitCode, signal, usage, stopped, startError: null, left });
    if (this.#trees.size === 0) this.#emptied?.();
  }

  #refused(tree: Tree, reason: string): void {
    this.#ending.delete(tree);
    this.#forest.remove(tree);
    this.#trees.delete(tree.id);
    this.#notStarted(tree.id, reason);
    if (this.#trees.size === 0) this.#emptied?.();
  }

  #notStarted(id: number, startError: string | null): void {
    const stopped = startError === null ? 'deadline' : null;
    this.#options.onExit(id, { exitCode: null, signal: null, usage: null, stopped, startError, left: 0 });
  }

  #now(): number {
    return this.#options.monotonicMs();
  }
}

/**
 * Sends SIGTERM once to each process. Processes that the shell starts for its own cleanup are spared while it lives.
 */
function ask(tree: Tree, left: readonly Left[]): void {
  const whole = !tree.exited;
  if (whole && tree.asked.size > 0) return;
  if (!tree.exited && tree.pid !== undefined) end(-tree.pid);
  for (const { pid, group } of left) {
    if (tree.asked.has(pid)) continue;
    tree.asked.add(pid);
    if (!whole || group !== tree.pid) end(pid);
  }
}

function end(pid: number): void {
  canSignal(pid, 'SIGTERM');
  // A stopped process does not handle SIGTERM until it continues.
  canSignal(pid, 'SIGCONT');
}

function kill(tree: Tree, left: readonly Left[]): void {
  if (!tree.exited && tree.pid !== undefined) canSignal(-tree.pid, 'SIGKILL');
  for (const { pid } of left) canSignal(pid, 'SIGKILL');
}
