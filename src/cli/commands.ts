/**
 * The table of commands. Each command is loaded on demand: loading all of them takes three times as long as most
 * commands run.
 */

import type { Command } from 'commander';

export interface CommandEntry {
  /** The name, then the aliases. */
  names: readonly string[];
  /** The heading in the help. */
  group: string;
  load: () => Promise<Command>;
}

export const COMMANDS: readonly CommandEntry[] = [
  ...inGroup('Run Workron:', [
    [['up'], async () => (await import('./commands/server.ts')).upCommand()],
    [['scheduler'], async () => (await import('./commands/server.ts')).schedulerCommand()],
    [['worker'], async () => (await import('./commands/server.ts')).workerCommand()],
    [['migrate'], async () => (await import('./commands/server.ts')).migrateCommand()],
    [['doctor'], async () => (await import('./commands/server.ts')).doctorCommand()],
    [['promote'], async () => (await import('./commands/server.ts')).promoteCommand()],
    [['backup'], async () => (await import('./commands/server.ts')).backupCommand()],
    [['export'], async () => (await import('./commands/server.ts')).exportCommand()],
    [['restore'], async () => (await import('./commands/server.ts')).restoreCommand()],
  ]),
  ...inGroup('Submit jobs:', [
    [['submit'], async () => (await import('./commands/submit.ts')).submitCommand()],
    [['run'], async () => (await import('./commands/submit.ts')).runCommand()],
  ]),
  ...inGroup('Inspect:', [
    [['status'], async () => (await import('./commands/status.ts')).statusCommand()],
    [['cluster'], async () => (await import('./commands/workers.ts')).clusterCommand()],
    [['jobs', 'ls'], async () => (await import('./commands/jobs.ts')).jobsCommand()],
    [['job', 'show'], async () => (await import('./commands/jobs.ts')).jobCommand()],
    [['history'], async () => (await import('./commands/jobs.ts')).historyCommand()],
    [['why'], async () => (await import('./commands/jobs.ts')).whyCommand()],
    [['logs'], async () => (await import('./commands/logs.ts')).logsCommand()],
    [['checkpoint'], async () => (await import('./commands/logs.ts')).checkpointCommand()],
    [['wait'], async () => (await import('./commands/submit.ts')).waitCommand()],
  ]),
  ...inGroup('Change:', [
    [['cancel'], async () => (await import('./commands/change.ts')).cancelCommand()],
    [['retry'], async () => (await import('./commands/change.ts')).retryCommand()],
    [['rerun'], async () => (await import('./commands/change.ts')).rerunCommand()],
    [['edit'], async () => (await import('./commands/change.ts')).editCommand()],
    [['queues', 'queue'], async () => (await import('./commands/queues.ts')).queuesCommand()],
    [['limits', 'limit'], async () => (await import('./commands/queues.ts')).limitsCommand()],
    [['notify'], async () => (await import('./commands/notify.ts')).notifyCommand()],
    [['workers'], async () => (await import('./commands/workers.ts')).workersCommand()],
  ]),
  ...inGroup('Workflows:', [
    [['workflow', 'wf', 'workflows'], async () => (await import('./commands/workflow.ts')).workflowCommand()],
  ]),
  ...inGroup('Schedules:', [
    [['schedule', 'schedules'], async () => (await import('./commands/schedule.ts')).scheduleCommand()],
    [['apply'], async () => (await import('./commands/apply.ts')).applyCommand()],
    [['import'], async () => (await import('./commands/apply.ts')).importCommand()],
  ]),
  ...inGroup('Access:', [
    [['tokens', 'token'], async () => (await import('./commands/access.ts')).tokensCommand()],
    [['secrets', 'secret'], async () => (await import('./commands/secrets.ts')).secretsCommand()],
    [['audit'], async () => (await import('./commands/access.ts')).auditCommand()],
    [['auth'], async () => (await import('./commands/access.ts')).authCommand()],
  ]),
  ...inGroup('This command line:', [
    [['config', 'profiles', 'profile'], async () => (await import('./commands/config.ts')).configCommand()],
    [['open'], async () => (await import('./commands/access.ts')).openCommand()],
    [['version'], async () => (await import('./commands/access.ts')).versionCommand()],
    [['completion'], async () => (await import('./commands/completion.ts')).completionCommand()],
  ]),
];

function inGroup(group: string, entries: readonly [string[], () => Promise<Command>][]): CommandEntry[] {
  return entries.map(([names, load]) => ({ names, group, load }));
}
