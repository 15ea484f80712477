/** The shape of a setting, and the commands that settings apply to. */

/** A command that takes settings; `client` means all commands that talk to a running server. */
export type SettingCommand = 'up' | 'scheduler' | 'worker' | 'migrate' | 'backup' | 'client';

export const ROLES = ['api', 'scheduler', 'worker'] as const;
export type Role = (typeof ROLES)[number];

export const SERVERS = ['up', 'scheduler'] as const;
export const WORKERS = ['up', 'worker'] as const;
export const PROCESSES = ['up', 'scheduler', 'worker'] as const;
export const DATABASE = ['up', 'scheduler', 'worker', 'migrate'] as const;

/** A setting in its group. Its flag is `--name`, its variable `WORKRON_NAME`, its key in the file `name`. */
export interface Setting<T> extends Definition<T> {
  group: string;
}

interface Definition<T> {
  name: string;
  /** The placeholder after the flag. */
  value: string;
  default: T;
  /** The default as users read it. */
  defaultText: string;
  /** Throws an error whose message is what was expected. */
  parse(text: string): T;
  sentence: string;
  commands: readonly SettingCommand[];
  /** A well-known variable that is read if nothing else sets this one. */
  fallback?: string;
}

export function setting<T>(definition: Definition<T>): Definition<T> {
  return definition;
}

type Grouped<D> = { readonly [K in keyof D]: D[K] extends Definition<infer T> ? Setting<T> : never };

/** Adds the group to each of the settings. */
export function inGroup<D extends Record<string, Definition<unknown>>>(group: string, definitions: D): Grouped<D> {
  const entries = Object.entries(definitions).map(([key, definition]) => [key, { ...definition, group }]);
  return Object.fromEntries(entries) as Grouped<D>;
}
