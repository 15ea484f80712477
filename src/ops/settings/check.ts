/** Checks that involve several settings. */

import { SettingsError } from './error.ts';
import type { Role, SettingCommand, Settings } from './settings.ts';

/** The roles of a command; those of `up` are set by `role`. */
export function rolesOf(command: SettingCommand, settings: Pick<Settings, 'role'>): readonly Role[] {
  if (command === 'up') return settings.role;
  if (command === 'scheduler') return ['api', 'scheduler'];
  return command === 'worker' ? ['worker'] : [];
}

export function checkSettings(settings: Settings, command: SettingCommand): void {
  const roles = rolesOf(command, settings);
  if (roles.length > 0 && settings.heartbeatMs * 2 > settings.leaseMs) {
    throw new SettingsError(
      'heartbeat must be at most half of lease; otherwise one late heartbeat costs a job its attempt',
    );
  }
  if (command === 'worker') checkWorker(settings);
  if (command === 'up' && !roles.includes('scheduler') && settings.store.driver !== 'postgres') {
    throw new SettingsError(
      `role ${roles.join(',')} without scheduler needs a PostgreSQL database that a scheduler shares`,
      '--db-url postgres://…, or workron worker --scheduler URL',
    );
  }
}

/** A worker needs exactly one source of jobs. */
function checkWorker({ schedulerUrls, store, dbUrl }: Settings): void {
  if (schedulerUrls.length > 0 && store.driver === 'postgres' && dbUrl !== null) {
    throw new SettingsError('a worker takes scheduler or db-url, not both');
  }
  if (schedulerUrls.length === 0 && store.driver !== 'postgres') {
    throw new SettingsError(
      'a worker needs a scheduler to work for',
      '--scheduler http://HOST:8080, or --db-url postgres://… to attach it to the database',
    );
  }
}
