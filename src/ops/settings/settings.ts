/** All settings: flags, environment, file, `--help` and docs/configuration.md come from this table. */

import { accessSettings, storeSettings } from './connection-settings.ts';
import type { Setting, SettingCommand } from './setting.ts';
import { logSettings, notifySettings, retentionSettings, secretSettings } from './upkeep-settings.ts';
import { leaseSettings, workSettings } from './work-settings.ts';

export type { Role, Setting, SettingCommand } from './setting.ts';

export const SETTINGS = {
  ...accessSettings,
  ...storeSettings,
  ...workSettings,
  ...leaseSettings,
  ...retentionSettings,
  ...notifySettings,
  ...secretSettings,
  ...logSettings,
} as const;

export type SettingKey = keyof typeof SETTINGS;

/** The store that `db-url` and `db-driver` select. */
export type StoreChoice =
  | { driver: 'memory' }
  /** `file` is relative to the working directory. */
  | { driver: 'sqlite'; file: string }
  | { driver: 'postgres'; url: string };

/** The value of every setting: durations in milliseconds, `token` read from `tokenFile` unless that is `null`, `store` selected. */
export type Settings = {
  readonly [K in SettingKey]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
} & { readonly store: StoreChoice };

/** The setting's environment variable, such as `WORKRON_REAP_EVERY`. */
export function envName(name: string): string {
  return `WORKRON_${name.toUpperCase().replaceAll('-', '_')}`;
}

export function settingsOf(command: SettingCommand): [SettingKey, Setting<unknown>][] {
  return (Object.entries(SETTINGS) as [SettingKey, Setting<unknown>][]).filter(([, { commands }]) =>
    commands.includes(command),
  );
}
