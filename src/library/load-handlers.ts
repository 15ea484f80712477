/** Loads handlers from modules: one for every job with a function that a module exports, alone or in a list. */

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { WorkronError } from '../core/error.ts';
import type { Handlers } from '../worker/run/handler-executor.ts';
import type { Engine } from './engine.ts';
import { handlersOf } from './handlers.ts';
import { isRunnable, type RunnableJob } from './job.ts';
import { Submitter } from './submitter.ts';

/** `engine` is where the handlers submit further jobs. */
export async function loadHandlers(files: readonly string[], engine: Engine): Promise<Handlers> {
  return handlersOf(await loadJobs(files), new Submitter({ engine }));
}

/** Each job once, even if several modules export it. */
async function loadJobs(files: readonly string[]): Promise<RunnableJob[]> {
  const found = new Set<RunnableJob>();
  for (const file of files) {
    const jobs = jobsOf(await load(file));
    if (jobs.length === 0) {
      throw new WorkronError('bad_request', `${file} exports no job: export const mail = job('mail', { run })`);
    }
    for (const job of jobs) found.add(job);
  }
  return [...found];
}

async function load(file: string): Promise<object> {
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as object;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new WorkronError('bad_request', `Could not load ${file}: ${why}`, { cause: error });
  }
}

function jobsOf(exported: object): RunnableJob[] {
  return Object.values(exported)
    .flatMap((value: unknown) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .filter(isRunnable);
}
