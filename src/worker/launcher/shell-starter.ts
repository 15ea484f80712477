/** How a shell is started: it leads its own session, reads nothing, and writes both streams to one pipe. */

import type { Usage } from '../../core/outcome.ts';

export interface Shell {
  command: string;
  /** `null`: the launcher's own working directory. */
  cwd: string | null;
  /** The whole environment. */
  env: Readonly<Record<string, string | undefined>>;
  /** Closed by the caller. */
  outputFd: number;
}

export interface ShellExit {
  /** One of the two is `null`. */
  exitCode: number | null;
  signal: string | null;
  /** What the shell and the processes that it waited for have used; `null` if it is not known. */
  usage: Usage | null;
}

export type OnShellExit = (exit: ShellExit) => void;

export interface ShellStarter {
  /** True if processes whose parent has ended become children of this process, which then reaps them. */
  readonly adopts: boolean;
  /**
   * Returns the pid, or throws. `onExit` is called once, when the shell was reaped, and never before `start` returns.
   */
  start(shell: Shell, onExit: OnShellExit): number;
}
