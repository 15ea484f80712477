/** Starts trees, stops them, and makes sure that nothing of an ended one is left. */

import { createForest, type Forest, type Left } from './forest.ts';
import type { DeadlineMessage, ExitMessage, StartMessage } from './frames.ts';
import { OutputPipes } from './output-pipes.ts';
import { canSignal, identityOf, TREE_MARK } from './process-table.ts';
import type { ShellStarter } from './shell-starter.ts';
import { Tree } from './tree.ts';

/** How long after SIGKILL a process that will not die (a broken disk, say) is waited for. */
const UNKILLABLE_MS = 10_000;
const FIRST_LOOK_MS = 2;
const LAST_LOOK_MS = 50;

export interface SupervisorOptions {
  /** For the pipes. */
  folder: string;
  /** In a PID namespace of its own. */
  enclosed: boolean;
  /** What every command gets. */
  env: Readonly<Record<string, string | undefined>>;
  starter: ShellStarter;
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
  /** Those that nobody needs any more, until nothing of them is left. */
  readonly #ending = new Set<Tree>();
  #lookingSoon = false;
  #later: NodeJS.Timeout | undefined;
  #lookMs = FIRST_LOOK_MS;
  #stopAt = Number.POSITIVE_INFINITY;
  #killBy = Number.POSITIVE_INFINITY;
  /** The worker is gone. */
  #abandoned = false;
  #emptied: (() => void) | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#forest = createForest(options.enclosed);
    this.#pipes = new OutputPipes(options.folder);
    // Where the worker itself runs as somebody's command, both marks must be found.
    const outer = options.env[TREE_MARK];
    this.#marks = `${outer === undefined ? '' : `${outer} `}${identityOf(process.pid)}`;
  }

  start(id: number, message: StartMessage): void {
    if (this.#now() >= this.#stopAt) return this.#notStarted(id, null);
    const marks = `${this.#marks}.${id}`;
    try {
      const tree = new Tree({
        id,
        mark: marks.slice(marks.lastIndexOf(' ') + 1),
        message,
        env: { ...this.#options.env, ...message.env, [TREE_MARK]: marks },
        starter: this.#options.starter,
        pipes: this.#pipes,
        events: {
          onOutput: (data) => this.#options.onOutput(id, data),
          onExit: () => this.#wantGone(tree),
          onDrained: () => this.#gone(tree),
        },
      });
      this.#trees.set(id, tree);
      this.#forest.add(tree);
    } catch (error) {
      this.#notStarted(id, error instanceof Error ? error.message : String(error));
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

  /** To be called every now and then: stops what must not run past the deadline. */
  watchDeadline(): void {
    if (this.#now() < this.#stopAt) return;
    for (const tree of this.#trees.values()) if (!tree.finishes) this.#end(tree, 'deadline', tree.graceMs);
  }

  /** The worker is gone: stops everything, within its lease; resolves once nothing is left. */
  abandon(): Promise<void> {
    this.#abandoned = true;
    for (const tree of this.#trees.values()) this.#end(tree, 'deadline', tree.graceMs);
    return new Promise((resolve) => {
      if (this.#trees.size === 0) resolve();
      else this.#emptied = resolve;
    });
  }

  #end(tree: Tree, why: ExitMessage['stopped'], graceMs: number): void {
    if (!tree.exited) tree.stopped ??= why;
    tree.killAt = Math.min(tree.killAt ?? Number.POSITIVE_INFINITY, this.#now() + graceMs);
    this.#wantGone(tree);
  }

  #wantGone(tree: Tree): void {
    // One that would not die was given up, and died after all.
    if (!this.#trees.has(tree.id)) return;
    this.#ending.add(tree);
    this.#lookMs = FIRST_LOOK_MS;
    this.#lookSoon();
  }

  /** What ends in one turn of the event loop shares one look. */
  #lookSoon(): void {
    clearTimeout(this.#later);
    if (this.#lookingSoon) return;
    this.#lookingSoon = true;
    setImmediate(() => {
      this.#lookingSoon = false;
      this.#lookAtEnding();
    });
  }

  #lookAtEnding(): void {
    clearTimeout(this.#later);
    this.#forest.look();
    const now = this.#now();
    let nextKill = Number.POSITIVE_INFINITY;
    for (const tree of this.#ending) {
      tree.killAt ??= now + tree.graceMs;
      const killAt = this.#killAt(tree.killAt, tree);
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
    this.#later = setTimeout(() => this.#lookAtEnding(), Math.min(this.#lookMs, Math.ceil(nextKill)));
    this.#lookMs = Math.min(this.#lookMs * 2, LAST_LOOK_MS);
  }

  /** Never beyond the lease, unless the command may outlive it. */
  #killAt(killAt: number, tree: Tree): number {
    return tree.finishes && !this.#abandoned ? killAt : Math.min(killAt, this.#killBy);
  }

  #gone(tree: Tree): void {
    const left = this.#forest.left(tree).length;
    this.#forest.remove(tree);
    this.#trees.delete(tree.id);
    const { exitCode, signal, stopped } = tree;
    this.#options.onExit(tree.id, { exitCode, signal, stopped, startError: null, left });
    if (this.#trees.size === 0) this.#emptied?.();
  }

  #notStarted(id: number, startError: string | null): void {
    const stopped = startError === null ? 'deadline' : null;
    this.#options.onExit(id, { exitCode: null, signal: null, stopped, startError, left: 0 });
  }

  #now(): number {
    return this.#options.monotonicMs();
  }
}

/** Each process is asked once; what a shell starts to clean up after itself is let be while the shell lives. */
function ask(tree: Tree, left: readonly Left[]): void {
  const whole = !tree.exited;
  if (whole && tree.asked.size > 0) return;
  if (whole) end(-tree.pid);
  for (const { pid, group } of left) {
    if (tree.asked.has(pid)) continue;
    tree.asked.add(pid);
    if (!whole || group !== tree.pid) end(pid);
  }
}

function end(pid: number): void {
  canSignal(pid, 'SIGTERM');
  // What is stopped hears nothing until it goes on.
  canSignal(pid, 'SIGCONT');
}

function kill(tree: Tree, left: readonly Left[]): void {
  if (!tree.exited) canSignal(-tree.pid, 'SIGKILL');
  for (const { pid } of left) canSignal(pid, 'SIGKILL');
}
