/** Which processes belong to which command: the answer to "is anything left of it?". */

import {
  canSignal,
  hasProcessTable,
  listPids,
  type ProcessStat,
  readStat,
  readVariable,
  TREE_MARK,
} from './process-table.ts';

export interface Root {
  id: number;
  /** Of the shell, which leads a session and a process group of its own. */
  pid: number;
  /** Its name in `WORKRON_TREE`. */
  mark: string;
  /** The shell has ended and was collected, so its pid names nothing any more. */
  exited: boolean;
}

export interface Left {
  /** To signal; a negative one stands for a whole process group. */
  pid: number;
  group: number;
}

export interface Forest {
  add(root: Root): void;
  /** The tree has ended: nothing of it is asked for any more. */
  remove(root: Root): void;
  /** Looks at the machine anew; `left` answers from the last look. */
  look(): void;
  /** What is alive of the tree. */
  left(root: Root): Left[];
}

/** `enclosed`: the processes listed are all children of this launcher, in a PID namespace of their own. */
export function createForest(enclosed: boolean): Forest {
  return hasProcessTable ? new ProcessForest(enclosed) : new GroupForest();
}

/** Where processes cannot be listed, the process group is all there is. */
class GroupForest implements Forest {
  add(): void {}
  remove(): void {}
  look(): void {}
  left(root: Root): Left[] {
    return canSignal(-root.pid) ? [{ pid: -root.pid, group: root.pid }] : [];
  }
}

interface Known {
  startedAt: string;
  /** The tree it belongs to, for ever; `null`: none. */
  root: number | null;
}

/**
 * A process belongs to a tree by its session or group, by its parent, or by the mark in its environment; once found to,
 * it stays so, whatever it does later. In a namespace even what shed all three is one of ours: such a stray is counted
 * to every tree that was there when it was found, and ends with the last of them.
 */
class ProcessForest implements Forest {
  readonly #enclosed: boolean;
  readonly #roots = new Map<number, Root>();
  readonly #byPid = new Map<number, Root>();
  readonly #byMark = new Map<string, Root>();
  readonly #known = new Map<number, Known>();
  readonly #members = new Map<number, Set<number>>();
  readonly #strays = new Map<number, Set<number>>();

  constructor(enclosed: boolean) {
    this.#enclosed = enclosed;
  }

  add(root: Root): void {
    this.#roots.set(root.id, root);
    this.#byPid.set(root.pid, root);
    this.#byMark.set(root.mark, root);
    this.#members.set(root.id, new Set());
    // A pid that was known as another process's is this one's now.
    this.#forget(root.pid);
  }

  remove(root: Root): void {
    this.#roots.delete(root.id);
    if (this.#byPid.get(root.pid) === root) this.#byPid.delete(root.pid);
    this.#byMark.delete(root.mark);
    for (const pid of this.#members.get(root.id) ?? []) this.#known.delete(pid);
    this.#members.delete(root.id);
    for (const candidates of this.#strays.values()) candidates.delete(root.id);
  }

  look(): void {
    const pids = new Set(listPids());
    for (const pid of this.#known.keys()) if (!pids.has(pid)) this.#forget(pid);
    for (const pid of pids) this.#attribute(pid);
  }

  left(root: Root): Left[] {
    const left: Left[] = root.exited ? [] : [{ pid: root.pid, group: root.pid }];
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
    // Our own child until we collect it: there is nothing to read about it.
    const root = this.#byPid.get(pid);
    if (root?.exited === false) return root.id;
    const known = this.#known.get(pid);
    if (known !== undefined) return known.root;
    const stat = pid === process.pid || pid === 1 ? undefined : readStat(pid);
    if (stat === undefined) return null;
    // Entered first: a parent that is our own child would otherwise ask for ever.
    const entry: Known = { startedAt: stat.startedAt, root: null };
    this.#known.set(pid, entry);
    entry.root = this.#rootOf(pid, stat);
    if (entry.root !== null) this.#members.get(entry.root)?.add(pid);
    else if (this.#enclosed && !stat.zombie) this.#strays.set(pid, new Set(this.#roots.keys()));
    return entry.root;
  }

  #rootOf(pid: number, stat: ProcessStat): number | null {
    const near = this.#byPid.get(stat.session) ?? this.#byPid.get(stat.group);
    if (near !== undefined) return near.id;
    const inherited = stat.parent > 1 ? this.#attribute(stat.parent) : null;
    if (inherited !== null) return inherited;
    for (const mark of readVariable(pid, TREE_MARK)?.split(' ') ?? []) {
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
