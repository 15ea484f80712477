import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../src/ops/log.ts';
import { passedOn } from '../../src/worker/command/environment.ts';
import { DEFAULT_ISOLATION, type Isolation } from '../../src/worker/command/isolation.ts';
import { type CommandUser, variablesOf } from '../../src/worker/launcher/command-user.ts';
import type { ExitMessage, StartMessage } from '../../src/worker/launcher/frames.ts';
import { Launcher, type LauncherOptions } from '../../src/worker/launcher/launcher.ts';

export const MODES = ['auto', 'off'] as const satisfies readonly Isolation['pidNamespace'][];

/** With and without a PID namespace, by posix_spawn if available, and by Node's spawn. */
export const WAYS = [
  ...MODES.map((pidNamespace) => ({ pidNamespace, starter: 'auto' as const })),
  { pidNamespace: 'off', starter: 'node' },
] as const satisfies readonly (Pick<Isolation, 'pidNamespace'> & Pick<LauncherOptions, 'starter'>)[];

export interface Ended extends ExitMessage {
  output: string;
}

interface TestIsolation {
  user?: CommandUser | null;
  noNewPrivileges?: boolean;
}

/** A launcher with its folder, both removed at the end of the test. */
export class TestLauncher implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'launcher-test-'));
  readonly launcher: Launcher;
  #lastId = 0;

  constructor(
    pidNamespace: Isolation['pidNamespace'],
    starter: Required<LauncherOptions>['starter'],
    { user = null, noNewPrivileges = false }: TestIsolation = {},
  ) {
    // As the folder of a worker: the user passes through it.
    if (user !== null) chmodSync(this.folder, 0o711);
    this.launcher = new Launcher({
      isolation: { ...DEFAULT_ISOLATION, pidNamespace, user, noNewPrivileges },
      starter,
      folder: { path: this.folder },
      env: { ...passedOn(process.env), ...(user === null ? {} : variablesOf(user)) },
      log: silentLog,
    });
  }

  static async open(
    pidNamespace: Isolation['pidNamespace'],
    starter: Required<LauncherOptions>['starter'] = 'auto',
    isolation: TestIsolation = {},
  ): Promise<TestLauncher> {
    const opened = new TestLauncher(pidNamespace, starter, isolation);
    await opened.launcher.open();
    return opened;
  }

  /** Runs a command; resolves when its whole process tree has ended. */
  run(command: string, message: Partial<StartMessage> = {}): Promise<Ended> {
    return new Promise((resolve) => {
      let output = '';
      this.#lastId = this.launcher.run(
        { command, cwd: null, env: {}, graceMs: 2_000, finish: false, ...message },
        {
          onOutput: (data) => {
            output += data.toString('latin1');
            this.launcher.credit(id, data.length);
          },
          onExit: (exit) => resolve({ ...exit, output }),
        },
      );
      const id = this.#lastId;
    });
  }

  /** Stops the last command. */
  stop(graceMs: number): void {
    this.launcher.stop(this.#lastId, graceMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.launcher[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
