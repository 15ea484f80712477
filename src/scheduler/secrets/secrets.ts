/** Secrets: set, list, delete, seal again with the present key; and their values for jobs that are claimed or read. */

import { WorkronError } from '../../core/error.ts';
import type { ClaimedJob, Job } from '../../core/job.ts';
import type { ListedJob } from '../../core/job-filter.ts';
import { MASK, maskJson } from '../../core/mask.ts';
import { type SecretKeys, type StoredSecret, sealedIn, secretsIn } from '../../core/secret.ts';
import type { SchedulerContext } from '../context.ts';
import { settle } from '../leases/settle.ts';
import { isDataKey } from './sealing.ts';

export interface Secrets {
  /** Throws `no_secrets_key` if this process has no key. */
  setSecret(name: string, value: string, signal: AbortSignal): Promise<StoredSecret>;
  deleteSecret(name: string, signal: AbortSignal): Promise<void>;
  /** Without their values. `isOpen`: this process has the key. */
  secrets(signal: AbortSignal): Promise<(StoredSecret & { isOpen: boolean })[]>;
  /** Seals all secrets and data keys with the present key. Returns how many secrets were sealed with another. */
  rotateSecrets(signal: AbortSignal): Promise<number>;
}

export function secretsOf({ store, secretKeys }: SchedulerContext): Secrets {
  return {
    setSecret: async (name, value, signal) => await store.putSecret(keysFrom(secretKeys).seal(name, value), signal),
    async deleteSecret(name, signal) {
      if (await store.deleteSecret(name, signal)) return;
      throw new WorkronError('secret_not_found', `No secret ${JSON.stringify(name)}`);
    },
    async secrets(signal) {
      const all = await store.secrets(null, signal);
      return all
        .filter((secret) => !isDataKey(secret))
        .map((secret) => ({ ...secret, isOpen: secretKeys?.open(secret) !== undefined }));
    },
    async rotateSecrets(signal) {
      const keys = keysFrom(secretKeys);
      const old = (await store.secrets(null, signal)).filter(({ keyId }) => keyId !== keys.keyId);
      const opened = old.map((secret) => ({ secret, value: keys.open(secret) }));
      // A data key that cannot be opened is left: what it sealed is lost already.
      const closed = opened
        .filter(({ secret, value }) => value === undefined && !isDataKey(secret))
        .map(({ secret: { name } }) => name);
      if (closed.length > 0) {
        throw new WorkronError(
          'no_secrets_key',
          `No key opens ${closed.join(', ')}: add the key that they were sealed with`,
        );
      }
      for (const { secret, value } of opened) {
        // One that was set in the meantime is sealed with the present key already.
        if (value !== undefined) await store.resealSecret(keys.seal(secret.name, value), secret.sealed, signal);
      }
      return old.filter((secret) => !isDataKey(secret)).length;
    },
  };
}

/**
 * Opens the environments and inputs of jobs that were claimed, and puts the values of secrets into them. A job for which this cannot be done
 * has failed and is left out. If the process dies before that is written, the job goes back to its queue: its worker never heard of it.
 */
export async function resolveSecrets(
  context: SchedulerContext,
  jobs: ClaimedJob[],
  { workerId, signal }: { workerId: number; signal: AbortSignal },
): Promise<ClaimedJob[]> {
  if (jobs.every(isPlain)) return jobs;
  const opened = await context.sealing.openJobs(jobs, signal);
  const wanted = opened.map(({ env }) => secretsIn(env));
  const values = await valuesOf(context, wanted.flat(), signal);
  const ready: ClaimedJob[] = [];
  for (const [index, job] of opened.entries()) {
    const named = wanted[index] as [string, string][];
    const error = whyUnresolved(context, job, values);
    if (error === undefined) {
      const resolved = named.map(([variable, secret]) => [variable, values.get(secret) as string]);
      if (named.length === 0) ready.push(job);
      else {
        const env = { ...job.env, ...Object.fromEntries(resolved) };
        ready.push({ ...job, env, secretEnv: named.map(([variable]) => variable) });
      }
      continue;
    }
    const outcome = { type: 'failed' as const, exitCode: null, signal: null, error };
    await settle(context, [{ jobId: job.id, attempt: job.attempt, workerId, outcome }], signal);
  }
  return ready;
}

/** Replaces secrets in the results of jobs for readers. */
export async function maskResults<J extends Job & Pick<ListedJob, 'cut'>>(
  context: SchedulerContext,
  jobs: readonly J[],
  signal: AbortSignal,
): Promise<J[]> {
  const wanted = jobs.map((job) => (job.result == null ? [] : secretsIn(job.env)));
  const values = await valuesOf(context, wanted.flat(), signal);
  return jobs.map((job, index) => {
    // Without its environment it is not known what to mask.
    if (job.result != null && job.cut?.includes('env')) return { ...job, result: null, cut: [...job.cut, 'result'] };
    const own = (wanted[index] as [string, string][]).map(([, secret]) => values.get(secret));
    if (own.length === 0) return job;
    const known = own.filter((value) => value !== undefined);
    // A secret that was deleted, or that no key of this process opens, cannot be found in it.
    return { ...job, result: known.length < own.length ? MASK : maskJson(job.result, known) };
  });
}

async function valuesOf(
  { store, secretKeys }: SchedulerContext,
  named: readonly [variable: string, secret: string][],
  signal: AbortSignal,
): Promise<Map<string, string | undefined>> {
  const names = [...new Set(named.map(([, secret]) => secret))];
  if (names.length === 0) return new Map();
  const stored = await store.secrets(names, signal);
  return new Map(stored.map((secret) => [secret.name, secretKeys?.open(secret)]));
}

function isPlain({ env, sealedInput }: ClaimedJob): boolean {
  if (sealedInput !== null) return false;
  for (const variable in env) {
    if (typeof env[variable] === 'object') return false;
  }
  return true;
}

/** `undefined` if input and environment are open and all its secrets have values. */
function whyUnresolved(
  { secretKeys }: SchedulerContext,
  { env, sealedInput }: ClaimedJob,
  values: ReadonlyMap<string, string | undefined>,
): string | undefined {
  const [variable] = sealedIn(env)[0] ?? [];
  const closed = sealedInput !== null ? 'the input' : variable && `the value of ${variable} in env`;
  const missing = secretsIn(env).find(([, secret]) => values.get(secret) === undefined)?.[1];
  if (closed === undefined && missing === undefined) return undefined;
  if (closed === undefined && !values.has(missing as string)) {
    return `there is no secret ${missing}; set it with: workron secrets set ${missing}`;
  }
  const what = closed ?? `secret ${missing}`;
  if (secretKeys === null) return `${what} cannot be read: the process that claims for this worker has no secrets key`;
  return `${what} cannot be read: no key of the process that claims for this worker opens it`;
}

function keysFrom(keys: SecretKeys | null): SecretKeys {
  if (keys !== null) return keys;
  throw new WorkronError(
    'no_secrets_key',
    'This server has no key for secrets: write 32 random bytes in base64 to a file (openssl rand -base64 32) and start it with --secrets-key-file FILE',
  );
}
