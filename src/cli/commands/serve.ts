/** The commands that start a process of Workron. */

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

/** `workron scheduler`: API and duties, without a worker. */
export function schedulerCommand(): Command {
  const command = new Command('scheduler').description('Start API and scheduler; jobs run on remote workers');
  return addSettingFlags(command, 'scheduler').action(async () => {
    const settings = settingsFrom(command, 'scheduler');
    const { serve } = await import('../serve.ts');
    process.exitCode = await serve(settings, ['api', 'scheduler']);
  });
}

/** `workron worker`: runs jobs of a scheduler in another process, over HTTP or attached to its PostgreSQL. */
export function workerCommand(): Command {
  const command = new Command('worker').description('Start a worker for a remote scheduler (--scheduler or --db-url)');
  return addSettingFlags(command, 'worker').action(async () => {
    const settings = settingsFrom(command, 'worker');
    const { serve } = await import('../serve.ts');
    process.exitCode = await serve(settings, ['worker']);
  });
}
