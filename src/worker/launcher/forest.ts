/** Which processes belong to which command, so that it is known whether any of them is left. */

import { membersOf } from './cgroup.ts';
import {
  canSignal,
  hasProcessTable,
  listPids,
  type ProcessStat,
  readMarks,
  readStat,
  TREE_MARK,
} from './process-table.ts';

export interface Root {
  id: number;
  /** The pid of the shell, which leads its own session and process group; `undefined` if it is not known. */
  pid: number | undefined;
  /** Its identity in `WORKRON_TREE`. */
  mark: string;
  /** True if the shell has ended and was reaped, so that its pid may be reused, or if it is lost. */
  exited: boolean;
}

export interface Left {
  /** The pid to signal; a negative one means a whole process group. */
  pid: number;
  group: number;
}

export interface Forest {
  /** Adds a tree before it starts, and again once its pid is known. */
  add(root: Root): void;
  /** Forgets a tree that has ended. */
  remove(root: Root): void;
  /** Reads the process table. `left` answers from the last reading. */
  scan(): void;
  /** The processes of the tree that are alive. */
  left(root: Root): Left[];
}

interface ForestOptions {
  /** All listed processes are children of this launcher, in its own PID namespace. */
  enclosed: boolean;
  /** Processes whose parent has ended become children of this launcher. */
  adopts: boolean;
  /** The control group of this launcher and of all that it starts; `null`: it has none. */
  group: string | null;
  /** Processes of the launcher that belong to no tree: see `ShellStarter`. */
  helpers: ReadonlyMap<number, number | null>;
  /** Users in whose processes marks are believed. */
  believed: readonly number[];
}

export function createForest(options: ForestOptions): Forest {
  return hasProcessTable ? new ProcessForest(options) : new GroupForest();
}

/** Used where processes cannot be listed: only the process group is known. */
class GroupForest implements Forest {
  add(): void {}
  remove(): void {}
  scan(): void {}
  left(root: Root): Left[] {
    if (root.pid === undefined) return [];
    return canSignal(-root.pid) ? [{ pid: -root.pid, group: root.pid }] : [];
  }
}

interface Known {
  startedAt: string;
  /** The tree that it belongs to, permanently; `null`: none. */
  root: number | null;
}

/**
 * A process belongs to a tree by its session or group, by its parent, or by the mark in its environment. Once
 * attributed, it stays so whatever it does. A process that shed all three must still be ours in a PID namespace, in the control
 * group, or if the launcher has adopted it or its parent: such a stray counts to every tree that existed when it was found, and
 * ends with the last of them.
 */
class ProcessForest implements Forest {
  readonly #options: ForestOptions;
  readonly #roots = new Map<number, Root>();
  readonly #byPid = new Map<number, Root>();
  readonly #byMark = new Map<string, Root>();
  readonly #known = new Map<number, Known>();
  readonly #members = new Map<number, Set<number>>();
  readonly #strays = new Map<number, Set<number>>();
  #inGroup: ReadonlySet<number> = new Set();

  constructor(options: ForestOptions) {
    this.#options = options;
  }

  add(root: Root): void {
    this.#roots.set(root.id, root);
    this.#byMark.set(root.mark, root);
    if (!this.#members.has(root.id)) this.#members.set(root.id, new Set());
    if (root.pid === undefined) return;
    this.#byPid.set(root.pid, root);
    // The pid was reused: it belongs to this process now.
    this.#forget(root.pid);
  }

  remove(root: Root): void {
    this.#roots.delete(root.id);
    if (root.pid !== undefined && this.#byPid.get(root.pid) === root) this.#byPid.delete(root.pid);
    this.#byMark.delete(root.mark);
    for (const pid of this.#members.get(root.id) ?? []) this.#known.delete(pid);
    this.#members.delete(root.id);
    for (const candidates of this.#strays.values()) candidates.delete(root.id);
  }

  scan(): void {
    const pids = new Set(listPids());
    // Read after the list, so that all listed processes that belong to it are in it.
    if (this.#options.group !== null) this.#inGroup = new Set(membersOf(this.#options.group));
    for (const pid of this.#known.keys()) if (!pids.has(pid)) this.#forget(pid);
    for (const pid of pids) this.#attribute(pid);
  }

  left(root: Root): Left[] {
    const left: Left[] = root.exited || root.pid === undefined ? [] : [{ pid: root.pid, group: root.pid }];
    for (const pid of this.#members.get(root.id) ?? []) {
      const stat = this.#alive(pid);
      if (stat !== undefined) left.push({ pid, group: stat.group });
    }
    for (const [pid, candidates] of this.#strays) {
      const others = candidates.size - (candidates.has(root.id) ? 1 : 0);
      const stat = others === 0 ? this.#alive(pid) : undefined;
      if (stat !== undefined) left.push({ pid, group: stat.group });
    }
    return left;
  }

  #alive(pid: number): ProcessStat | undefined {
    const stat = readStat(pid);
    return stat?.zombie === false && stat.startedAt === this.#known.get(pid)?.startedAt ? stat : undefined;
  }

  #attribute(pid: number): number | null {
    // Our own child until we reap it: there is no need to read its state.
    const root = this.#byPid.get(pid);
    if (root?.exited === false) return root.id;
    const known = this.#known.get(pid);
    if (known !== undefined) return known.root;
    const heir = this.#options.helpers.get(pid);
    if (heir !== undefined) return heir !== null && this.#roots.has(heir) ? heir : null;
    const stat = pid === process.pid || pid === 1 ? undefined : readStat(pid);
    if (stat === undefined) return null;
    // Stored before the lookup, which would otherwise recurse without end if a parent is our own child.
    const entry: Known = { startedAt: stat.startedAt, root: null };
    this.#known.set(pid, entry);
    entry.root = this.#rootOf(pid, stat);
    if (entry.root !== null) this.#members.get(entry.root)?.add(pid);
    else if (this.#isStray(pid, stat) && !stat.zombie) this.#strays.set(pid, new Set(this.#roots.keys()));
    return entry.root;
  }

  #isStray(pid: number, { parent }: ProcessStat): boolean {
    const { enclosed, adopts } = this.#options;
    if (enclosed || this.#inGroup.has(pid)) return true;
    return adopts && (parent === process.pid || this.#strays.has(parent));
  }

  #rootOf(pid: number, stat: ProcessStat): number | null {
    const near = this.#byPid.get(stat.session) ?? this.#byPid.get(stat.group);
    if (near !== undefined) return near.id;
    const inherited = stat.parent > 1 ? this.#attribute(stat.parent) : null;
    if (inherited !== null) return inherited;
    for (const mark of readMarks(pid, TREE_MARK, this.#options.believed)) {
      const marked = this.#byMark.get(mark);
      if (marked !== undefined) return marked.id;
    }
    return null;
  }

  #forget(pid: number): void {
    const known = this.#known.get(pid);
    if (known === undefined) return;
    this.#known.delete(pid);
    this.#strays.delete(pid);
    if (known.root !== null) this.#members.get(known.root)?.delete(pid);
  }
}
