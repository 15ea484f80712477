/** How a shell is started: it leads its own session, reads nothing, and writes both streams to one pipe. */

import type { Usage } from '../../core/outcome.ts';

export interface Shell {
  /** The tree that it belongs to. */
  id: number;
  command: string;
  /** `null`: that of the process that starts it. */
  cwd: string | null;
  /** The whole environment. */
  env: Readonly<Record<string, string | undefined>>;
  output: {
    path: string;
    /** Its end for writing. The caller closes it after `onStart`, `onRefused` or `onLost`. */
    writeFd: number;
  };
}

export interface ShellExit {
  /** One of the two is `null`. */
  exitCode: number | null;
  signal: string | null;
  /** What the shell and the processes that it waited for have used; `null` if it is not known. */
  usage: Usage | null;
}

export type OnShellExit = (exit: ShellExit) => void;

/** First `onStart` or `onRefused`, then `onExit`. `onLost` can take the place of each. */
export interface ShellEvents {
  onStart: (pid: number) => void;
  /** It was not started. */
  onRefused: (reason: string) => void;
  /** The shell was reaped. */
  onExit: OnShellExit;
  /** How it ended, and whether it has ended or started at all, will never be known: the process that started it was killed. */
  onLost: () => void;
}

export interface ShellStarter {
  /** True if processes whose parent has ended become children of this process, which then reaps them. */
  readonly adopts: boolean;
  /** Processes of the launcher that belong to no tree, and the tree that orphans become their children in; `null`: none. */
  readonly helpers: ReadonlyMap<number, number | null>;
  /** May call back before it returns. Throws if it is known by then that the shell cannot be started. */
  start(shell: Shell, events: ShellEvents): void;
  /** To be called once no process of the tree is left. */
  forget(id: number): void;
  /** Gives up what has neither started nor been refused. */
  giveUpStarts(): void;
}
