/** Builders with defaults: each test gives only the fields it is about. */

import type { NewStep, NewWorkflow } from '../../src/core/dag/new-workflow.ts';
import type { StepWrite } from '../../src/core/durable.ts';
import { DEFAULT_SPEC, type NewJob } from '../../src/core/job.ts';
import type { Offer } from '../../src/core/lane.ts';
import type { NewWorker } from '../../src/core/worker.ts';

export const LEASE_MS = 30_000;

/** A job that runs a command and is due now. */
export function aJob(wanted: Partial<NewJob> = {}): NewJob {
  const command = wanted.handler === undefined || wanted.handler === null ? 'true' : null;
  return { ...DEFAULT_SPEC, command, runAt: null, delayMs: null, unique: null, dependsOn: [], ...wanted };
}

export function jobs(count: number, wanted: Partial<NewJob> = {}): NewJob[] {
  return Array.from({ length: count }, () => aJob(wanted));
}

/** A step that runs a command after its parents, which are positions in the list of steps. */
export function aStep(key: string, wanted: Partial<Omit<NewStep, 'job'>> & { job?: Partial<NewJob> } = {}): NewStep {
  return { parents: [], condition: 'success', forEach: null, keepFrom: null, ...wanted, key, job: aJob(wanted.job) };
}

export function aWorkflow(steps: readonly NewStep[], wanted: Partial<NewWorkflow> = {}): NewWorkflow {
  return { name: 'workflow', params: {}, steps, rerunOf: null, ...wanted };
}

/** The offer of a worker that runs any command of any queue. */
export function anOffer(wanted: Partial<Offer> = {}): Offer {
  return { queues: null, commands: true, handlers: [], tags: [], free: {}, ...wanted };
}

export function aWorker(wanted: Partial<NewWorker> = {}): NewWorker {
  return {
    name: 'worker',
    attachment: 'remote',
    instanceId: 'instance-1',
    host: 'localhost',
    pid: 4711,
    address: null,
    registeredBy: null,
    slots: 4,
    queues: null,
    commands: true,
    handlers: [],
    tags: [],
    resources: {},
    leaseMs: LEASE_MS,
    version: '0.0.0',
    ...wanted,
  };
}

/** A step that has ended without a result. */
export function aStepWrite(
  name: string,
  wanted: Partial<StepWrite> = {},
): Omit<StepWrite, 'jobId' | 'attempt' | 'workerId'> {
  return { name, kind: 'step', tries: 0, tookMs: 0, wait: null, result: null, thrown: null, ...wanted };
}
