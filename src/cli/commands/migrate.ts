import { Command } from 'commander';
import { print } from '../client-command.ts';
import { addSettingFlags, settingsFrom } from '../flags/setting.ts';

/** `workron migrate`: brings the store's schema up to date, without starting anything. */
export function migrateCommand(): Command {
  const command = new Command('migrate').description('Bring the database schema up to date (`up` does so by itself)');
  return addSettingFlags(command, 'migrate').action(async () => {
    const settings = settingsFrom(command, 'migrate');
    const [{ openStore }, { ownLog }] = await Promise.all([
      import('../../node/open-store.ts'),
      import('../output/terminal-log.ts'),
    ]);
    await using store = await openStore(settings, { log: ownLog(settings.logLevel), migrate: true });
    print(`${store.driver} ${store.location}: the schema is up to date`);
  });
}
