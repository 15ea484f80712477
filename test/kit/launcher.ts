import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../src/ops/log.ts';
import { passedOn } from '../../src/worker/command/environment.ts';
import type { StartMessage } from '../../src/worker/launcher/frames.ts';
import { type CommandExit, Launcher, type LauncherOptions, PID_NAMESPACE } from '../../src/worker/launcher/launcher.ts';

export const MODES = PID_NAMESPACE;

/** With and without a PID namespace, by posix_spawn if available, and by Node's spawn. */
export const WAYS = [
  ...MODES.map((pidNamespace) => ({ pidNamespace, starter: 'auto' as const })),
  { pidNamespace: 'off', starter: 'node' },
] as const satisfies readonly Pick<LauncherOptions, 'pidNamespace' | 'starter'>[];

export interface Ended extends CommandExit {
  output: string;
}

/** A launcher with its folder, both removed at the end of the test. */
export class TestLauncher implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'launcher-test-'));
  readonly launcher: Launcher;
  #lastId = 0;

  constructor(pidNamespace: LauncherOptions['pidNamespace'], starter: Required<LauncherOptions>['starter']) {
    this.launcher = new Launcher({
      pidNamespace,
      starter,
      folder: { path: this.folder },
      env: passedOn(process.env),
      log: silentLog,
    });
  }

  static async open(
    pidNamespace: LauncherOptions['pidNamespace'],
    starter: Required<LauncherOptions>['starter'] = 'auto',
  ): Promise<TestLauncher> {
    const opened = new TestLauncher(pidNamespace, starter);
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
