import { Command } from 'commander';
import { addSettingFlags, settingsFrom } from '../flags/setting.ts';

/** `workron worker`: runs jobs for a scheduler elsewhere, over HTTP or attached to its PostgreSQL. */
export function workerCommand(): Command {
  const command = new Command('worker').description(
    'Start a worker for a scheduler elsewhere (--scheduler or --db-url)',
  );
  return addSettingFlags(command, 'worker').action(async () => {
    const settings = settingsFrom(command, 'worker');
    const { serve } = await import('../serve.ts');
    process.exitCode = await serve(settings, ['worker']);
  });
}
