import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import type { WorkerProfile } from '../../src/worker/job-source.ts';
import { Worker, type WorkerOptions } from '../../src/worker/worker.ts';
import type { ScriptedSource } from './scripted-source.ts';

export interface TestWorkerOptions extends Partial<Omit<WorkerOptions, 'profile'>> {
  profile?: Partial<WorkerProfile>;
}

/** A running worker, stopped at the end of the test. */
export class TestWorker implements AsyncDisposable {
  readonly worker: Worker;
  readonly ran: Promise<void>;

  constructor(source: ScriptedSource, options: TestWorkerOptions = {}) {
    const handlers = Object.keys(options.handlers ?? {});
    const none = {
      name: 'test',
      slots: 4,
      queues: null,
      commands: handlers.length === 0,
      handlers,
      tags: [],
      resources: {},
    };
    const profile = { ...none, ...options.profile };
    this.worker = new Worker({ source, clock: systemClock, random: Math.random, log: silentLog, ...options, profile });
    this.ran = this.worker.run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.worker.stop();
    await this.ran;
  }
}
