/** How a shell is started: it leads its own session, reads nothing, and writes both streams to one pipe. */

export interface Shell {
  command: string;
  /** `null`: the launcher's own working directory. */
  cwd: string | null;
  /** The whole environment. */
  env: Readonly<Record<string, string | undefined>>;
  /** Closed by the caller. */
  outputFd: number;
}

/** One of the two is `null`. */
export type OnShellExit = (exitCode: number | null, signal: string | null) => void;

export interface ShellStarter {
  /** True if processes whose parent has ended become children of this process, which then reaps them. */
  readonly adopts: boolean;
  /**
   * Returns the pid, or throws. `onExit` is called once, when the shell was reaped, and never before `start` returns.
   */
  start(shell: Shell, onExit: OnShellExit): number;
}
