/** Flags that filter jobs. */

import type { Command } from 'commander';
import { REASONS, STATUSES } from '../../core/job.ts';
import { collectList, collectOneOf, oneOfFlag, pastFlag } from './values.ts';

export type Filter = Readonly<Record<string, string | readonly string[] | undefined>>;

export function addFilterFlags(command: Command): Command {
  return command
    .optionsGroup('Filter:')
    .option('-s, --status <STATUS,…>', `One of ${STATUSES.join(', ')}`, collectOneOf(STATUSES))
    .option('--queue <NAME>', 'Of this queue')
    .option('--name <NAME>', 'With this name')
    .option('--unique <KEY>', 'Submitted with this unique key')
    .option('--by <NAME>', 'Submitted by this token or person')
    .option('--tag <TAG,…>', 'With all of these tags', collectList)
    .option('--reason <REASON>', `Ended for this reason: ${REASONS.join(', ')}`, oneOfFlag(REASONS))
    .option('--worker <ID>', 'Run by this worker')
    .option('--workflow <ID>', 'Steps of this workflow, and their items')
    .option('--since <TIME>', 'Submitted since: an instant, or 2h for two hours ago', pastFlag)
    .option('--until <TIME>', 'Submitted before: an instant, or a duration ago', pastFlag)
    .option('--search <TEXT>', 'With this text in name, command or error')
    .option('--error <TEXT>', 'With this text in the error')
    .optionsGroup('Options:');
}

/** The filter as the API takes it. `words` are a typed filter, such as `queue:mail status:failed`. */
export function filterFrom(command: Command, words: readonly string[] = []): Filter {
  const flags = command.opts<Record<string, string | string[] | undefined>>();
  const status = flags['status'];
  return {
    status: Array.isArray(status) ? status.join(',') : undefined,
    queue: flags['queue'],
    name: flags['name'],
    unique_key: flags['unique'],
    submitted_by: flags['by'],
    tag: flags['tag'],
    reason: flags['reason'],
    worker_id: flags['worker'],
    workflow_id: flags['workflow'],
    from: flags['since'],
    to: flags['until'],
    q: flags['search'],
    error: flags['error'],
    query: words.length === 0 ? undefined : words.join(' '),
  };
}
