import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../src/ops/log.ts';
import { passedOn } from '../../src/worker/environment.ts';
import type { StartMessage } from '../../src/worker/launcher/frames.ts';
import { type CommandExit, Launcher, PID_NAMESPACE } from '../../src/worker/launcher/launcher.ts';

export const MODES = PID_NAMESPACE;

export interface Ended extends CommandExit {
  output: string;
}

/** A launcher with its folder, gone at the end of the test. */
export class TestLauncher implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'launcher-test-'));
  readonly launcher: Launcher;
  #lastId = 0;

  constructor(pidNamespace: (typeof MODES)[number]) {
    this.launcher = new Launcher({ pidNamespace, folder: this.folder, env: passedOn(process.env), log: silentLog });
  }

  static async open(pidNamespace: (typeof MODES)[number]): Promise<TestLauncher> {
    const opened = new TestLauncher(pidNamespace);
    await opened.launcher.open();
    return opened;
  }

  /** Resolves once nothing of the command is left. */
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

  /** Stops what was run last. */
  stop(graceMs: number): void {
    this.launcher.stop(this.#lastId, graceMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.launcher[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
