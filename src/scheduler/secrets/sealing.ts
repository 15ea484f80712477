/**
 * Seals the texts of environments, the inputs of jobs that want it, and the files of definitions before they reach the store, if
 * this process has a key for secrets. They are sealed with a data key, which is stored as a secret that the key opens: to rotate the key, only the data key
 * is sealed again.
 */

import { randomBytes } from 'node:crypto';
import type { NewDefinition } from '../../core/dag/definition.ts';
import { WorkronError } from '../../core/error.ts';
import type { JobSpec } from '../../core/job.ts';
import { NEVER } from '../../core/never.ts';
import type { Target } from '../../core/schedule/schedule.ts';
import { type EnvValue, hasText, type SecretKeys, sealedIn } from '../../core/secret.ts';
import { KeyRing } from '../../ops/key-ring.ts';
import type { Store } from '../../store/store.ts';

/** No name of a secret begins like this. */
const DATA_KEY = '~data-key-';
/** No body of a definition begins like this: it is JSON. */
const SEALED = 'sealed:';

export function isDataKey({ name }: { name: string }): boolean {
  return name.startsWith(DATA_KEY);
}

/** How one call seals. */
export interface Seal {
  /** Seals the texts of an environment. What is sealed already, and names of secrets, stay. */
  env: <V extends EnvValue | null>(env: Readonly<Record<string, V>>) => Readonly<Record<string, V>>;
  /** Throws `no_secrets_key` if this process has no key. */
  input: (input: unknown) => string;
}

const withoutKey: Seal = {
  env: (env) => env,
  input() {
    throw noKeyForInput();
  },
};

/** The parts of a job that are sealed. */
type Sealable = Pick<JobSpec, 'env' | 'input' | 'sealInput' | 'sealedInput'>;

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

  /** Equal texts of a variable are sealed alike within the call, and not alike in others. No two inputs are sealed alike. */
  seal(): Seal | Promise<Seal> {
    if (this.#keys === null || this.#current !== undefined) return this.sealNow();
    return this.prepare().then(() => this.sealNow());
  }

  /** The same at once. Throws if `prepare` has failed. */
  sealNow(): Seal {
    if (this.#keys === null) return withoutKey;
    return { env: this.#sealEnv(), input: (input) => this.#seal(INPUT, JSON.stringify(input ?? null)) };
  }

  #sealEnv(): Seal['env'] {
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

  /** The jobs with the texts of their environments, and their inputs. What no key of this process opens stays sealed. */
  async openJobs<J extends Sealable>(jobs: readonly J[], signal: AbortSignal): Promise<J[]> {
    const found = jobs.map(({ env }) => sealedIn(env));
    const inputs = jobs.flatMap(({ sealedInput }) => sealedInput ?? []);
    await this.#read([...found.flat().map(([, sealed]) => sealed), ...inputs], signal);
    return jobs.map((job, index) => this.#openInput(this.#openEnv(job, found[index] ?? [])));
  }

  #openEnv<J extends Sealable>(job: J, sealedTexts: readonly [variable: string, sealed: string][]): J {
    const opened = sealedTexts.flatMap(([name, sealed]) => {
      const text = this.#open(envName(name), sealed);
      return text === undefined ? [] : [[name, text] as const];
    });
    return opened.length === 0 ? job : { ...job, env: { ...job.env, ...Object.fromEntries(opened) } };
  }

  #openInput<J extends Sealable>(job: J): J {
    const text = job.sealedInput === null ? undefined : this.#open(INPUT, job.sealedInput);
    return text === undefined ? job : { ...job, input: JSON.parse(text) as unknown, sealedInput: null };
  }

  /** Writes of steps with the results sealed that are to be. */
  async sealSteps<W extends { result: string | null; seal?: boolean }>(writes: readonly W[]): Promise<W[]> {
    await this.prepare();
    if (this.#keys === null) throw noKeyForInput();
    return writes.map((write) =>
      write.seal && write.result !== null ? { ...write, result: SEALED + this.#seal(STEP, write.result) } : write,
    );
  }

  isSealed(result: string | null): boolean {
    return result?.startsWith(SEALED) ?? false;
  }

  /** Throws `no_secrets_key` if no key of this process opens one. */
  async openSteps<S extends { result: string | null }>(steps: readonly S[], signal: AbortSignal): Promise<S[]> {
    const sealed = steps.flatMap(({ result }) => (result?.startsWith(SEALED) ? [result.slice(SEALED.length)] : []));
    if (sealed.length === 0) return [...steps];
    await this.#read(sealed, signal);
    return steps.map((step) => {
      if (!this.isSealed(step.result)) return step;
      const result = this.#open(STEP, (step.result as string).slice(SEALED.length));
      if (result === undefined) throw new WorkronError('no_secrets_key', 'No key of this process opens the steps');
      return { ...step, result };
    });
  }

  /** The target with the texts of its environments and its inputs, to compare it with another one. */
  async openTarget(target: Target, signal: AbortSignal): Promise<Target> {
    if ('job' in target) return { job: (await this.openJobs([target.job], signal))[0] as JobSpec };
    const { steps } = target.workflow;
    const jobs = await this.openJobs(
      steps.map(({ job }) => job),
      signal,
    );
    const opened = steps.map((step, index) => ({ ...step, job: jobs[index] as (typeof step)['job'] }));
    return { workflow: { ...target.workflow, steps: opened } };
  }

  /**
   * Equal definitions are sealed alike, so that the store can see that nothing has changed. `sealsInputs`: a step has an input that
   * is to be sealed. Without a key this throws `no_secrets_key`, as the file has the input, too.
   */
  async sealDefinition(definition: NewDefinition, { sealsInputs }: { sealsInputs: boolean }): Promise<NewDefinition> {
    if (this.#keys === null && sealsInputs) throw noKeyForInput();
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

  #seal(name: string, text: string, salt?: string): string {
    if (this.#current === undefined) {
      throw new WorkronError(
        'no_secrets_key',
        'Values cannot be encrypted: there is no data key yet, and this process could not make one; start a scheduler with the key first',
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

/** Jobs, steps or other things with a spec, with sealed environments, and inputs where they are to be sealed. */
export function sealJobs<J extends Sealable>(jobs: readonly J[], seal: Seal): readonly J[] {
  return jobs.map((job) => sealJob(job, seal));
}

export function sealJob<J extends Sealable>(job: J, seal: Seal): J {
  const env = seal.env(job.env);
  if (job.sealInput && job.sealedInput === null)
    return { ...job, env, input: null, sealedInput: seal.input(job.input) };
  return env === job.env ? job : { ...job, env };
}

export function sealTarget(target: Target, seal: Seal): Target {
  if ('job' in target) return { job: sealJob(target.job, seal) };
  return { workflow: sealWorkflow(target.workflow, seal) };
}

export function sealWorkflow<W extends { steps: readonly { job: Sealable }[] }>(workflow: W, seal: Seal): W {
  return { ...workflow, steps: workflow.steps.map((step) => ({ ...step, job: sealJob(step.job, seal) })) };
}

/** A sealed input cannot be moved to a variable or a definition, whose names have a space. */
const INPUT = 'input';
/** Nor can the result of a step. */
const STEP = 'step';

/** A sealed value cannot be moved to another variable. */
function envName(variable: string): string {
  return `env ${variable}`;
}

function noKeyForInput(): WorkronError {
  return new WorkronError(
    'no_secrets_key',
    'seal_input: there is no key to encrypt the input with; give one by --secrets-key-file FILE (library: secretsKey), or submit it without seal_input',
  );
}

function split(text: string): { keyId: string; sealed: string } {
  const at = text.indexOf(':');
  return { keyId: text.slice(0, at), sealed: text.slice(at + 1) };
}
