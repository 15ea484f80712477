/** What a job runs: a command after `--`, or a handler. */

import type { Command } from 'commander';
import { usageError } from '../errors/cli-error.ts';
import { commandOf, jobFrom } from './job.ts';

/** The job from the flags with the command after `--`, if there is one. Throws if it has a command and a handler, too. */
export function workFrom(command: Command, words: readonly string[]): Record<string, unknown> {
  const job = jobFrom(command);
  if (words.length === 0) return job;
  if (job['handler'] !== undefined) throw usageError('expected a command after --, or --handler, not both');
  return { ...job, command: commandOf(words) };
}

/** Throws for an input without a handler. The job of an existing schedule may have its handler already. */
export function refuseLoneInput(job: Record<string, unknown>): void {
  if ('input' in job && job['handler'] === undefined) throw usageError('--input goes with --handler NAME');
}
