import { Command } from 'commander';
import { print } from '../client-command.ts';
import { usageError } from '../errors/cli-error.ts';
import { addSettingFlags, settingsFrom } from '../flags/setting.ts';

/** `workron migrate`: brings the store's schema up to date, without starting anything. */
export function migrateCommand(): Command {
  const command = new Command('migrate')
    .description('Update the database schema (`up` does so itself)')
    .option(
      '--grant-roles',
      'Also make PostgreSQL roles with few rights: NAME_submit, _viewer, _worker and _scheduler, where NAME is the schema',
    );
  addSettingFlags(command, 'migrate');
  return command.action(async ({ grantRoles: wantsRoles }: { grantRoles?: boolean }) => {
    const settings = settingsFrom(command, 'migrate');
    const [{ openStore }, { ownLog }] = await Promise.all([
      import('../../node/open-store.ts'),
      import('../output/terminal-log.ts'),
    ]);
    await using store = await openStore(settings, { log: ownLog(settings.logLevel), migrate: true });
    print(`${store.driver} ${store.location}: the schema is up to date`);
    if (!wantsRoles) return;
    if (settings.store.driver !== 'postgres') throw usageError('--grant-roles is for PostgreSQL');
    const { grantRoles } = await import('../../store/postgres/base/roles.ts');
    const roles = await grantRoles({ url: settings.store.url, schema: settings.dbSchema });
    print(`roles: ${roles.join(', ')}`);
  });
}
