/** The attempts that run or ran, as their commands and handlers see it. */

import type { Job } from '../../src/core/job.ts';
import { type Known, Violation } from './witness.ts';

export interface Execution {
  jobId: number;
  attempt: number;
  /** The process that runs it. */
  worker: string;
  kind: 'command' | 'handler';
  /** False if another attempt may start while it runs: it may finish without contact, or does not stop when asked. */
  exclusive: boolean;
  live: boolean;
  end: 'success' | 'failure' | 'stopped' | null;
}

interface ExecutionOptions {
  fail: (violation: Violation) => void;
  /** The job as it is stored now. */
  knownAs: (id: number) => Known | undefined;
  /** A person's retry starts a skipped job whatever its parents are. */
  wasRetried: (id: number) => boolean;
}

export class Executions {
  readonly #all = new Map<string, Execution>();
  readonly #live = new Set<Execution>();
  readonly #fail: (violation: Violation) => void;
  readonly #knownAs: ExecutionOptions['knownAs'];
  readonly #wasRetried: ExecutionOptions['wasRetried'];

  constructor({ fail, knownAs, wasRetried }: ExecutionOptions) {
    this.#fail = fail;
    this.#knownAs = knownAs;
    this.#wasRetried = wasRetried;
  }

  find(jobId: number, attempt: number): Execution | undefined {
    return this.#all.get(`${jobId}/${attempt}`);
  }

  began(begun: Omit<Execution, 'live' | 'end'>, capacity: { slots: number; gpus: number }): Execution {
    const { jobId, attempt, worker } = begun;
    const key = `${jobId}/${attempt}`;
    if (this.#all.has(key)) this.#violates('one start per attempt', `job ${key} was started twice`);
    const known = this.#knownAs(jobId);
    const job = known?.job;
    for (const other of this.#live) {
      if (other.jobId === jobId && other.exclusive && begun.exclusive) {
        this.#violates('attempts do not overlap', `job ${key} started while attempt ${other.attempt} was running`);
      }
      if (job !== undefined && other.jobId !== jobId && other.exclusive && begun.exclusive) this.#checkLine(job, other);
    }
    if (known?.job.rerun === 'never') this.#checkNever(known, attempt);
    for (const { jobId: parent, condition } of job?.dependsOn ?? []) {
      const status = this.#knownAs(parent)?.job.status;
      if (condition === 'success' && status !== 'done' && !this.#wasRetried(jobId)) {
        this.#violates('parents first', `job ${key} started while its parent ${parent} was ${status}`);
      }
    }
    const execution: Execution = { ...begun, live: true, end: null };
    this.#all.set(key, execution);
    this.#live.add(execution);
    const mine = [...this.#live].filter((other) => other.worker === worker);
    const gpus = mine.reduce((sum, other) => sum + (this.#knownAs(other.jobId)?.job.resources['gpu'] ?? 0), 0);
    if (mine.length > capacity.slots || gpus > capacity.gpus) {
      this.#violates(
        'exact limits',
        `worker ${worker} runs ${mine.length} of ${capacity.slots} jobs with ${gpus} of ${capacity.gpus} GPUs`,
      );
    }
    return execution;
  }

  ended(execution: Execution, end: Exclude<Execution['end'], null>): void {
    if (!execution.live) return;
    execution.live = false;
    execution.end = end;
    this.#live.delete(execution);
  }

  /** Ends what ran in a process that died. */
  died(which: (execution: Execution) => boolean): void {
    for (const execution of Array.from(this.#live).filter(which)) this.ended(execution, 'stopped');
  }

  /** A frozen process cannot stop its handlers: after it wakes up they may run for a moment beside the next attempt. */
  froze(worker: string): void {
    for (const execution of this.#live) {
      if (execution.worker === worker && execution.kind === 'handler') execution.exclusive = false;
    }
  }

  #checkLine(job: Job, other: Execution): void {
    const line = job.tick?.line;
    if (line === undefined || this.#knownAs(other.jobId)?.job.tick?.line !== line || job.name?.endsWith(' allow'))
      return;
    this.#violates(
      'runs of a schedule do not overlap',
      `job ${job.id} started while run ${other.jobId} of its schedule was running`,
    );
  }

  #checkNever({ job, forgiven }: Known, attempt: number): void {
    for (let before = forgiven + 1; before < attempt; before += 1) {
      if (this.find(job.id, before) !== undefined) {
        this.#violates('rerun: never', `job ${job.id} was started at attempts ${before} and ${attempt}`);
      }
    }
  }

  #violates(rule: string, message: string): void {
    this.#fail(new Violation(rule, message));
  }
}
