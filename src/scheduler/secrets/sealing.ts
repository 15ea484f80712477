/**
 * Seals the texts of environments, and the files of definitions, before they reach the store, if this process has a key for
 * secrets. They are sealed with a data key, which is stored as a secret that the key opens: to rotate the key, only the data key
 * is sealed again.
 */

import { randomBytes } from 'node:crypto';
import type { NewDefinition } from '../../core/dag/definition.ts';
import { WorkronError } from '../../core/error.ts';
import type { JobSpec } from '../../core/job.ts';
import { NEVER } from '../../core/never.ts';
import type { Target } from '../../core/schedule/schedule.ts';
import { type Env, type EnvValue, hasText, type SecretKeys, sealedIn } from '../../core/secret.ts';
import { KeyRing } from '../../ops/key-ring.ts';
import type { Store } from '../../store/store.ts';

/** No name of a secret begins like this. */
const DATA_KEY = '~data-key-';
/** No body of a definition begins like this: it is JSON. */
const SEALED = 'sealed:';

export function isDataKey({ name }: { name: string }): boolean {
  return name.startsWith(DATA_KEY);
}

/** Seals the texts of an environment. What is sealed already, and names of secrets, stay. */
export type SealEnv = <V extends EnvValue | null>(env: Readonly<Record<string, V>>) => Readonly<Record<string, V>>;

const asItIs: SealEnv = (env) => env;

export class Sealing {
  readonly #store: Pick<Store, 'secrets' | 'putSecret'>;
  readonly #keys: SecretKeys | null;
  readonly #dataKeys = new Map<string, KeyRing>();
  #current: KeyRing | undefined;
  #preparing: Promise<void> | undefined;

  constructor(store: Pick<Store, 'secrets' | 'putSecret'>, keys: SecretKeys | null) {
    this.#store = store;
    this.#keys = keys;
  }

  /** Reads the data keys, and makes one if no key of this process opens any. */
  async prepare(): Promise<void> {
    if (this.#keys === null || this.#current !== undefined) return;
    this.#preparing ??= this.#prepare(this.#keys).finally(() => {
      this.#preparing = undefined;
    });
    await this.#preparing;
  }

  /** How one call seals. Equal texts of a variable are sealed alike within the call, and not alike in others. */
  sealEnv(): SealEnv | Promise<SealEnv> {
    if (this.#keys === null || this.#current !== undefined) return this.sealEnvNow();
    return this.prepare().then(() => this.sealEnvNow());
  }

  /** The same at once. Throws if `prepare` has failed. */
  sealEnvNow(): SealEnv {
    if (this.#keys === null) return asItIs;
    const salt = randomBytes(16).toString('base64');
    const known = new WeakMap<object, object>();
    return (env) => {
      if (!hasText(env)) return env;
      let sealed = known.get(env);
      if (sealed === undefined) {
        const values = Object.entries(env).map(([name, value]) => [
          name,
          typeof value === 'string' ? { sealed: this.#seal(envName(name), value, salt) } : value,
        ]);
        sealed = Object.fromEntries(values) as object;
        known.set(env, sealed);
      }
      return sealed as typeof env;
    };
  }

  /** The environments with their texts. A value that no key of this process opens stays sealed. */
  async openEnvs(envs: readonly Env[], signal: AbortSignal): Promise<Env[]> {
    const found = envs.map(sealedIn);
    await this.#read(
      found.flat().map(([, sealed]) => sealed),
      signal,
    );
    return envs.map((env, index) => {
      const opened = (found[index] ?? []).flatMap(([name, sealed]) => {
        const text = this.#open(envName(name), sealed);
        return text === undefined ? [] : [[name, text] as const];
      });
      return opened.length === 0 ? env : { ...env, ...Object.fromEntries(opened) };
    });
  }

  /** The target with the texts of its environments, to compare it with another one. */
  async openTarget(target: Target, signal: AbortSignal): Promise<Target> {
    const jobs = 'job' in target ? [target.job] : target.workflow.steps.map(({ job }) => job);
    if (jobs.every(({ env }) => sealedIn(env).length === 0)) return target;
    const envs = await this.openEnvs(
      jobs.map(({ env }) => env),
      signal,
    );
    if ('job' in target) return { job: { ...target.job, env: envs[0] as Env } };
    const steps = target.workflow.steps.map((step, index) => ({
      ...step,
      job: { ...step.job, env: envs[index] as Env },
    }));
    return { workflow: { ...target.workflow, steps } };
  }

  /** Equal definitions are sealed alike, so that the store can see that nothing has changed. */
  async sealDefinition(definition: NewDefinition): Promise<NewDefinition> {
    if (this.#keys === null) return definition;
    await this.prepare();
    const { name, source, body } = definition;
    return {
      name,
      source: SEALED + this.#seal(`source ${name}`, source, ''),
      body: SEALED + this.#seal(`body ${name}`, body, ''),
    };
  }

  /** `undefined` if no key of this process opens it. */
  async openDefinition<D extends NewDefinition>(definition: D, signal: AbortSignal): Promise<D | undefined> {
    if (!definition.body.startsWith(SEALED)) return definition;
    const [source, body] = [definition.source, definition.body].map((text) => text.slice(SEALED.length)) as [
      string,
      string,
    ];
    await this.#read([body], signal);
    const opened = {
      source: this.#open(`source ${definition.name}`, source),
      body: this.#open(`body ${definition.name}`, body),
    };
    if (opened.source === undefined || opened.body === undefined) return undefined;
    return { ...definition, source: opened.source, body: opened.body };
  }

  async #prepare(keys: SecretKeys): Promise<void> {
    await this.#readAll(keys, NEVER);
    if (this.#current !== undefined) return;
    const text = randomBytes(32).toString('base64');
    await this.#store.putSecret(keys.seal(DATA_KEY + KeyRing.parse(text).keyId, text), NEVER);
    // Others may have made one at the same time: all take the oldest.
    await this.#readAll(keys, NEVER);
  }

  async #readAll(keys: SecretKeys, signal: AbortSignal): Promise<void> {
    const rows = (await this.#store.secrets(null, signal)).filter(isDataKey);
    for (const row of rows.sort((a, b) => a.createdAt - b.createdAt)) {
      const text = keys.open(row);
      if (text === undefined) continue;
      const key = KeyRing.parse(text);
      this.#dataKeys.set(key.keyId, key);
      this.#current ??= key;
    }
  }

  /** Reads the data keys if one of these was sealed with one that is not known yet. */
  async #read(sealed: readonly string[], signal: AbortSignal): Promise<void> {
    if (this.#keys === null || sealed.every((text) => this.#dataKeys.has(split(text).keyId))) return;
    await this.#readAll(this.#keys, signal);
  }

  #seal(name: string, text: string, salt: string): string {
    if (this.#current === undefined) {
      throw new WorkronError(
        'no_secrets_key',
        'The values of env cannot be encrypted: there is no data key yet, and this process could not make one; start a scheduler with the key first',
      );
    }
    const { keyId, sealed } = this.#current.seal(name, text, salt);
    return `${keyId}:${sealed}`;
  }

  #open(name: string, text: string): string | undefined {
    const { keyId, sealed } = split(text);
    return this.#dataKeys.get(keyId)?.open({ name, keyId, sealed });
  }
}

/** Jobs, steps or other things with a spec, with sealed environments. */
export function sealJobs<J extends Pick<JobSpec, 'env'>>(jobs: readonly J[], seal: SealEnv): readonly J[] {
  return seal === asItIs ? jobs : jobs.map((job) => sealJob(job, seal));
}

export function sealJob<J extends Pick<JobSpec, 'env'>>(job: J, seal: SealEnv): J {
  const env = seal(job.env);
  return env === job.env ? job : { ...job, env };
}

export function sealTarget(target: Target, seal: SealEnv): Target {
  if ('job' in target) return { job: sealJob(target.job, seal) };
  return { workflow: sealWorkflow(target.workflow, seal) };
}

export function sealWorkflow<W extends { steps: readonly { job: Pick<JobSpec, 'env'> }[] }>(
  workflow: W,
  seal: SealEnv,
): W {
  return { ...workflow, steps: workflow.steps.map((step) => ({ ...step, job: sealJob(step.job, seal) })) };
}

/** A sealed value cannot be moved to another variable. */
function envName(variable: string): string {
  return `env ${variable}`;
}

function split(text: string): { keyId: string; sealed: string } {
  const at = text.indexOf(':');
  return { keyId: text.slice(0, at), sealed: text.slice(at + 1) };
}
