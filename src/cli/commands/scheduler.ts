import { Command } from 'commander';
import { addSettingFlags, settingsFrom } from '../flags/setting.ts';

/** `workron scheduler`: API and duties, no jobs of its own. */
export function schedulerCommand(): Command {
  const command = new Command('scheduler').description('Start API and scheduler; jobs run on workers elsewhere');
  return addSettingFlags(command, 'scheduler').action(async () => {
    const settings = settingsFrom(command, 'scheduler');
    const { serve } = await import('../serve.ts');
    process.exitCode = await serve(settings, ['api', 'scheduler']);
  });
}
