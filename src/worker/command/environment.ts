/** The environment of a command. Nothing else of the server's environment is passed on. */

import type { ClaimedJob } from '../../core/job.ts';
import { plainEnv } from '../../core/secret.ts';
import { TREE_MARK } from '../launcher/process-table.ts';
import { contextVariables, gangVariables, tickVariables } from './context-variables.ts';

const PASSED_ON = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'TERM',
  'HOSTNAME',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  TREE_MARK,
]);

/** The part of the worker's environment that commands may see: no tokens, no database addresses. */
export function passedOn(env: Readonly<NodeJS.ProcessEnv>): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && (PASSED_ON.has(name) || name.startsWith('LC_'))) passed[name] = value;
  }
  return passed;
}

export interface AttemptFiles {
  /** Where the command may write its result. */
  result: string;
  /** Where the ends of its parents are written; `null` if it has none. */
  parents: string | null;
  /** Where it may write a checkpoint, and where the last one is, if there is one. */
  checkpoint: string;
  lastCheckpoint: string;
  /** Where it may write its progress, and when it wants to run again. */
  progress: string;
  retryAfter: string;
}

/** The variables of one attempt: the job's own, those of its run context, and its identity. */
export function attemptEnvironment(job: ClaimedJob, files: AttemptFiles): Record<string, string> {
  return {
    ...plainEnv(job.env),
    ...(job.tick === null ? {} : tickVariables(job.tick)),
    ...(job.gang === null || job.gangContext === undefined ? {} : gangVariables(job.gang, job.gangContext)),
    ...(job.runContext === null ? {} : contextVariables(job.runContext)),
    WORKRON_JOB_ID: String(job.id),
    WORKRON_ATTEMPT: String(job.attempt),
    WORKRON_QUEUE: job.queue,
    ...(job.name === null ? {} : { WORKRON_NAME: job.name }),
    WORKRON_OUTPUT: files.result,
    WORKRON_CHECKPOINT: files.checkpoint,
    WORKRON_LAST_CHECKPOINT: files.lastCheckpoint,
    WORKRON_PROGRESS: files.progress,
    WORKRON_RETRY_AFTER: files.retryAfter,
    ...(files.parents === null ? {} : { WORKRON_PARENTS: files.parents }),
  };
}
