/** A worker claims jobs and gets them with all that it needs to run them. */

import { z } from 'zod';
import { DEFAULT_SPEC, type ClaimedJob as DomainClaimedJob } from '../core/job.ts';
import { sameButInput } from '../core/same-but-input.ts';
import { plainEnv } from '../core/secret.ts';
import { duration, label, parseInstant, storeId, toInstant, wholeNumber, wireId, wireInstant } from './fields.ts';
import { gangFromWire } from './gang.ts';
import { specShape } from './job.ts';
import { amounts, queueName, tagList } from './job-submission.ts';
import { specToWire } from './job-wire.ts';
import { ratesFrom } from './meters.ts';
import { RunContext, runContextFromWire, runContextToWire } from './run-context.ts';
import { itemsOf, named } from './schemas.ts';
import { StepPage, stepsFromWire, stepsToWire } from './step.ts';
import { TickOfJob, tickOfJobFromWire, tickOfJobToWire } from './tick-of-job.ts';

/** The longest poll. */
export const MAX_CLAIM_WAIT_MS = 60_000;

export const ClaimRequest = named(
  'ClaimRequest',
  z.object({
    worker_id: storeId,
    limit: wholeNumber(1, 10_000).default(1),
    prefetch: z.boolean().default(false).meta({
      description: 'The jobs will wait at the worker before they start: only jobs that may be prefetched are returned.',
    }),
    wait: duration().default(0).meta({ description: 'The time to wait for jobs if there are none; at most a minute.' }),
    claim_seq: wholeNumber(0, Number.MAX_SAFE_INTEGER).nullable().default(null).meta({
      description:
        'Rises with each claim of a worker. With it, jobs of a reply that got lost return to their queue early.',
    }),
    queues: z.array(queueName).max(1_000).nullable().default(null),
    commands: z.boolean().default(true),
    handlers: z.array(label(256)).max(10_000).default([]),
    tags: tagList.default([]),
    free: amounts.default({}).meta({ description: 'The free capacity of the worker, by name.' }),
    results_once: z.boolean().default(false).meta({
      description: 'If several jobs of the reply share a parent, only the first of them has its result.',
    }),
    alike_once: z.boolean().default(false).meta({
      description: 'Jobs of the reply that are alike are sent with the first of them, in its field `alike`.',
    }),
    steps: z.boolean().default(false).meta({
      description: 'The worker knows of steps: without this, a job that has some waits for another worker.',
    }),
  }),
);
export type ClaimRequest = z.output<typeof ClaimRequest>;
export type ClaimRequestInput = z.input<typeof ClaimRequest>;

export const EndClaimWait = named(
  'EndClaimWait',
  z.object({
    claim_seq: wholeNumber(0, Number.MAX_SAFE_INTEGER).meta({
      description: 'Claims of the worker up to this number answer at once, with the jobs that they have or none.',
    }),
  }),
);

export const ClaimWaitEnded = named('ClaimWaitEnded', z.object({ ended: z.literal(true) }));

const AlikeJob = named('AlikeJob', z.object({ id: wireId, run_at: wireInstant, input: z.unknown() }));

export const ClaimedJob = named(
  'ClaimedJob',
  z.object({
    id: wireId,
    attempt: z.number(),
    failures: z.number(),
    run_at: wireInstant,
    started_at: wireInstant,
    prefetched: z
      .literal(true)
      .exactOptional()
      .meta({ description: 'The job was prefetched: it may wait for a slot. Report when it starts.' }),
    suspect: z.literal(true).exactOptional().meta({
      description:
        'The job came back from a lost worker that had not reported its start, and may have ended that worker. Start nothing beside it at first.',
    }),
    ...specShape,
    env: z.record(z.string(), z.string()),
    secret_env: z
      .array(z.string())
      .exactOptional()
      .meta({ description: 'The variables in env whose values are secrets. Mask them in what the job prints.' }),
    // Schedulers of earlier versions do not send it.
    run_context: RunContext.nullable().default(null),
    tick: TickOfJob.nullable().default(null),
    gang_hosts: z.array(z.string()).exactOptional().meta({
      description:
        "For a member of a gang: the address of each member's worker, by rank. It has one entry for each member that starts: fewer than gang.size if some have no place.",
    }),
    steps: StepPage.exactOptional().meta({
      description: 'The steps of its function, about 64 KiB of results at most.',
    }),
    alike: z.array(AlikeJob).exactOptional().meta({
      description: 'With `alike_once`: the jobs that follow this one, and differ from it in these fields at most.',
    }),
  }),
);
export type ClaimedJob = z.output<typeof ClaimedJob>;

export const ClaimedJobs = named('ClaimedJobs', itemsOf(ClaimedJob));

/** `sentResults`: ids of parents whose results are already in the same reply; `null` repeats results with every job. */
function claimedJobToWire(job: DomainClaimedJob, sentResults: Set<number> | null): ClaimedJob {
  return {
    id: String(job.id),
    attempt: job.attempt,
    failures: job.failures,
    run_at: toInstant(job.dueAt),
    started_at: toInstant(job.startedAt),
    ...(job.prefetched ? { prefetched: true } : {}),
    ...(job.suspect ? { suspect: true } : {}),
    ...specToWire(job),
    env: { ...plainEnv(job.env) },
    ...(job.secretEnv === undefined ? {} : { secret_env: [...job.secretEnv] }),
    run_context: job.runContext === null ? null : runContextToWire(job.runContext, sentResults),
    tick: tickOfJobToWire(job.tick),
    ...(job.steps === undefined ? {} : { steps: stepsToWire(job.steps) }),
    ...(job.gangContext === undefined ? {} : { gang_hosts: [...job.gangContext.hosts] }),
  };
}

/**
 * Serializes the first jobs of a claim, as many as have `maxLength` characters together; a single one may have more. Returns the
 * reply, and how many jobs are in it.
 */
export function claimedJobsToText(
  jobs: readonly DomainClaimedJob[],
  { results_once, alike_once }: Pick<ClaimRequest, 'results_once' | 'alike_once'>,
  maxLength: number,
): { text: string; count: number } {
  const sentResults = results_once ? new Set<number>() : null;
  const groups: { first: DomainClaimedJob; text: string; alike: string[] }[] = [];
  let [count, length] = [0, 0];
  for (const job of jobs) {
    const last = alike_once ? groups.at(-1) : undefined;
    const group = last !== undefined && areAlike(last.first, job) ? last : undefined;
    const text = JSON.stringify(group === undefined ? claimedJobToWire(job, sentResults) : alikeToWire(job));
    length += text.length;
    if (length > maxLength && count > 0) break;
    count += 1;
    if (group === undefined) groups.push({ first: job, text, alike: [] });
    else group.alike.push(text);
  }
  const items = groups.map(({ text, alike }) =>
    alike.length === 0 ? text : `${text.slice(0, -1)},"alike":[${alike.join(',')}]}`,
  );
  return { text: `{"items":[${items.join(',')}]}`, count };
}

/** True if two jobs differ at most in what `alikeToWire` sends. */
function areAlike(a: DomainClaimedJob, b: DomainClaimedJob): boolean {
  return (
    a.attempt === b.attempt &&
    a.failures === b.failures &&
    a.startedAt === b.startedAt &&
    a.prefetched === b.prefetched &&
    a.suspect === b.suspect &&
    a.secretEnv === b.secretEnv &&
    a.runContext === b.runContext &&
    a.gangContext === b.gangContext &&
    a.steps === b.steps &&
    sameButInput(a, b)
  );
}

function alikeToWire({ id, dueAt, input }: DomainClaimedJob): z.output<typeof AlikeJob> {
  return { id: String(id), run_at: toInstant(dueAt), input: input ?? null };
}

/** Decodes the jobs of one reply. The result of a parent may be sent only once, with the first of its children. */
export function claimedJobsFromWire(items: readonly ClaimedJob[]): DomainClaimedJob[] {
  const results = new Map<string, unknown>();
  const jobs: DomainClaimedJob[] = [];
  for (const wire of items) {
    const job = claimedJobFromWire(wire, results);
    jobs.push(job);
    for (const { id, run_at: runAt, input } of wire.alike ?? []) {
      jobs.push({ ...job, id: Number(id), dueAt: parseInstant(runAt) ?? 0, input });
    }
  }
  return jobs;
}

function claimedJobFromWire(wire: ClaimedJob, results: Map<string, unknown>): DomainClaimedJob {
  return {
    id: Number(wire.id),
    attempt: wire.attempt,
    failures: wire.failures,
    dueAt: parseInstant(wire.run_at) ?? 0,
    startedAt: parseInstant(wire.started_at) ?? 0,
    ...(wire.prefetched ? { prefetched: true } : {}),
    ...(wire.suspect ? { suspect: true } : {}),
    ...(wire.steps === undefined ? {} : { steps: stepsFromWire(wire.steps) }),
    name: wire.name,
    queue: wire.queue,
    priority: wire.priority,
    command: wire.command,
    handler: wire.handler,
    input: wire.input,
    sealInput: wire.seal_input,
    sealedInput: null,
    maxAttempts: wire.max_attempts,
    backoff: {
      type: wire.backoff.type,
      baseMs: wire.backoff.base,
      factor: wire.backoff.factor,
      capMs: wire.backoff.cap,
      jitter: wire.backoff.jitter,
    },
    retryOn: wire.retry_on,
    noRetryOn: wire.no_retry_on,
    timeoutMs: wire.timeout,
    startTimeoutMs: wire.start_timeout,
    killGraceMs: wire.kill_grace,
    rerun: wire.rerun,
    onDisconnect: wire.on_disconnect,
    env: wire.env,
    ...(wire.secret_env === undefined ? {} : { secretEnv: wire.secret_env }),
    cwd: wire.cwd,
    tags: wire.tags,
    requires: wire.requires,
    resources: wire.resources,
    fairKey: wire.fair_key,
    limits: wire.limits,
    rates: ratesFrom(wire.rates),
    onLimit: wire.on_limit,
    gang: gangFromWire(wire.gang),
    ...(wire.gang_hosts === undefined ? {} : { gangContext: { hosts: wire.gang_hosts } }),
    // Only the scheduler needs these.
    continueOnFailure: DEFAULT_SPEC.continueOnFailure,
    notify: DEFAULT_SPEC.notify,
    runContext: wire.run_context === null ? null : runContextFromWire(wire.run_context, results),
    tick: tickOfJobFromWire(wire.tick),
    // Workers do not need it.
    submittedBy: null,
  };
}
