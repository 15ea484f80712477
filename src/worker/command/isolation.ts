/** What keeps commands apart from the worker and the rest of the machine. */

import type { CommandUser } from '../launcher/command-user.ts';

export interface Isolation {
  /** `auto`: commands run in a PID namespace if the machine allows it. */
  pidNamespace: 'auto' | 'off';
  /** Whom commands run as; `null`: the user of the worker. */
  user: CommandUser | null;
  /** True if commands cannot gain rights by set-user-ID programs such as sudo. */
  noNewPrivileges: boolean;
  limits: Limits;
}

/** Limits of each process of a command; `null`: that of the worker. */
export interface Limits {
  openFiles: number | null;
  cpuTimeMs: number | null;
}

export const DEFAULT_ISOLATION: Isolation = {
  pidNamespace: 'auto',
  user: null,
  noNewPrivileges: false,
  limits: { openFiles: null, cpuTimeMs: null },
};

/** A command whose shell sets the limits first. They stay on its own line, so that the shell's messages name the right one. */
export function withLimits(command: string, { openFiles, cpuTimeMs }: Limits): string {
  const set: string[] = [];
  if (openFiles !== null) set.push(`ulimit -n ${openFiles}`);
  if (cpuTimeMs !== null) {
    const seconds = Math.ceil(cpuTimeMs / 1_000);
    // SIGXCPU says what happened. A process that ignores it is killed a second later.
    set.push(`ulimit -S -t ${seconds}`, `ulimit -H -t ${seconds + 1}`);
  }
  return set.length === 0 ? command : `${set.join(' && ')} || exit; ${command}`;
}
