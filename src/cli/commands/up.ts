import { Command } from 'commander';
import { addSettingFlags, settingsFrom } from '../flags/setting.ts';

/** `workron up`: everything in one process. */
export function upCommand(): Command {
  const command = new Command('up').description('Start Workron: API, scheduler and worker in one process');
  return addSettingFlags(command, 'up').action(async () => {
    const settings = settingsFrom(command, 'up');
    const { serve } = await import('../serve.ts');
    process.exitCode = await serve(settings, settings.role);
  });
}
