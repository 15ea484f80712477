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

/** The group of the commands that `workron --help` lists; `workron help all` has the others, too. */
export const EVERYDAY = 'Everyday:';

export const COMMANDS: readonly CommandEntry[] = [
  ...inGroup(EVERYDAY, [
    [['up'], async () => (await import('./commands/server.ts')).upCommand()],
    [['run'], async () => (await import('./commands/submit.ts')).runCommand()],
    [['submit'], async () => (await import('./commands/submit.ts')).submitCommand()],
    [['jobs', 'ls'], async () => (await import('./commands/jobs.ts')).jobsCommand()],
    [['logs'], async () => (await import('./commands/logs.ts')).logsCommand()],
    [['why'], async () => (await import('./commands/jobs.ts')).whyCommand()],
    [['cancel'], async () => (await import('./commands/change.ts')).cancelCommand()],
    [['retry'], async () => (await import('./commands/change.ts')).retryCommand()],
    [['schedule', 'schedules'], async () => (await import('./commands/schedule.ts')).scheduleCommand()],
    [['workflow', 'wf', 'workflows'], async () => (await import('./commands/workflow.ts')).workflowCommand()],
    [['queues', 'queue'], async () => (await import('./commands/queues.ts')).queuesCommand()],
    [['status'], async () => (await import('./commands/status.ts')).statusCommand()],
  ]),
  ...inGroup('Jobs:', [
    [['job', 'show'], async () => (await import('./commands/jobs.ts')).jobCommand()],
    [['history'], async () => (await import('./commands/jobs.ts')).historyCommand()],
    [['steps'], async () => (await import('./commands/durable.ts')).stepsCommand()],
    [['checkpoint'], async () => (await import('./commands/logs.ts')).checkpointCommand()],
    [['wait'], async () => (await import('./commands/submit.ts')).waitCommand()],
    [['rerun'], async () => (await import('./commands/change.ts')).rerunCommand()],
    [['edit'], async () => (await import('./commands/change.ts')).editCommand()],
  ]),
  ...inGroup('Files:', [
    [['apply'], async () => (await import('./commands/apply.ts')).applyCommand()],
    [['import'], async () => (await import('./commands/apply.ts')).importCommand()],
  ]),
  ...inGroup('Installation:', [
    [['scheduler'], async () => (await import('./commands/server.ts')).schedulerCommand()],
    [['worker'], async () => (await import('./commands/server.ts')).workerCommand()],
    [['workers'], async () => (await import('./commands/workers.ts')).workersCommand()],
    [['cluster'], async () => (await import('./commands/workers.ts')).clusterCommand()],
    [['limits', 'limit'], async () => (await import('./commands/queues.ts')).limitsCommand()],
    [['notify'], async () => (await import('./commands/notify.ts')).notifyCommand()],
    [['doctor'], async () => (await import('./commands/server.ts')).doctorCommand()],
    [['health'], async () => (await import('./commands/status.ts')).healthCommand()],
    [['init'], async () => (await import('./commands/server.ts')).initCommand()],
  ]),
  ...inGroup('Database:', [
    [['migrate'], async () => (await import('./commands/server.ts')).migrateCommand()],
    [['promote'], async () => (await import('./commands/server.ts')).promoteCommand()],
    [['backup'], async () => (await import('./commands/server.ts')).backupCommand()],
    [['export'], async () => (await import('./commands/server.ts')).exportCommand()],
    [['restore'], async () => (await import('./commands/server.ts')).restoreCommand()],
  ]),
  ...inGroup('Access:', [
    [['tokens', 'token'], async () => (await import('./commands/access.ts')).tokensCommand()],
    [['secrets', 'secret'], async () => (await import('./commands/secrets.ts')).secretsCommand()],
    [['audit'], async () => (await import('./commands/access.ts')).auditCommand()],
    [['auth'], async () => (await import('./commands/access.ts')).authCommand()],
    [['open'], async () => (await import('./commands/access.ts')).openCommand()],
  ]),
  ...inGroup('This command line:', [
    [['config', 'profiles', 'profile'], async () => (await import('./commands/config.ts')).configCommand()],
    [['version'], async () => (await import('./commands/access.ts')).versionCommand()],
    [['completion'], async () => (await import('./commands/completion.ts')).completionCommand()],
  ]),
];

function inGroup(group: string, entries: readonly [string[], () => Promise<Command>][]): CommandEntry[] {
  return entries.map(([names, load]) => ({ names, group, load }));
}
