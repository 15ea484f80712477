/** How a shell becomes a process: it leads a session of its own, reads nothing, and writes both streams to one pipe. */

export interface Shell {
  command: string;
  /** `null`: where the launcher is. */
  cwd: string | null;
  /** All of its environment. */
  env: Readonly<Record<string, string | undefined>>;
  /** Stays the caller's to close. */
  outputFd: number;
}

/** One of the two is `null`. */
export type OnShellExit = (exitCode: number | null, signal: string | null) => void;

export interface ShellStarter {
  /** Answers with the pid; throws where there is none. `onExit` is called once, when it has been collected, and never from within. */
  start(shell: Shell, onExit: OnShellExit): number;
}
