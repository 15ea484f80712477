/** Secrets: values that jobs name in their environment. The store has them sealed; workers get them with the job. */

/** Shorter values cannot be masked without masking ordinary words. */
export const MIN_SECRET_LENGTH = 8;
export const MAX_SECRET_LENGTH = 32_768;

/** In the environment of a job: the value is that of the secret with this name. */
export interface SecretRef {
  secret: string;
}

/** In the environment of a stored job: a text that only a key can open. */
export interface SealedText {
  sealed: string;
}

export type EnvValue = string | SecretRef | SealedText;
export type Env = Readonly<Record<string, EnvValue>>;

/** A secret as it is stored: encrypted, with the id of the key that opens it. */
export interface SealedSecret {
  name: string;
  keyId: string;
  /** Text that only the key can open. */
  sealed: string;
}

export interface StoredSecret extends SealedSecret {
  createdAt: number;
  updatedAt: number;
}

/** Seals and opens secrets. The id of the present key is `keyId`; older keys only open. */
export interface SecretKeys {
  readonly keyId: string;
  seal(name: string, value: string): SealedSecret;
  /** `undefined` if no key opens it. */
  open(secret: SealedSecret): string | undefined;
}

/** The variables that are secrets, with the names of the secrets. */
export function secretsIn(env: Env): [variable: string, secret: string][] {
  const found: [string, string][] = [];
  for (const variable in env) {
    const value = env[variable];
    if (typeof value === 'object' && 'secret' in value) found.push([variable, value.secret]);
  }
  return found;
}

/** The variables that are sealed, with their sealed texts. */
export function sealedIn(env: Env): [variable: string, sealed: string][] {
  const found: [string, string][] = [];
  for (const variable in env) {
    const value = env[variable];
    if (typeof value === 'object' && 'sealed' in value) found.push([variable, value.sealed]);
  }
  return found;
}

/** True if a variable is a text that is not sealed. */
export function hasText(env: Readonly<Record<string, EnvValue | null>>): boolean {
  for (const variable in env) {
    if (typeof env[variable] === 'string') return true;
  }
  return false;
}

/** The environment without what was not resolved or opened. */
export function plainEnv(env: Env): Readonly<Record<string, string>> {
  for (const variable in env) {
    if (typeof env[variable] !== 'object') continue;
    const plain = Object.entries(env).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
    return Object.fromEntries(plain);
  }
  return env as Readonly<Record<string, string>>;
}
