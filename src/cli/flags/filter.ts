/** Flags that filter jobs: the words of a typed filter, such as `queue:mail`, as flags. */

import type { Command } from 'commander';
import { FILTER_KEYS } from '../../api/filter-text.ts';
import { REASONS, STATUSES } from '../../core/job.ts';
import { collectList, collectOneOf, oneOfFlag, pastFlag } from './values.ts';

export type Filter = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Each flag with the field of the API that it sets. Jobs are named by their ids as arguments. */
export const FILTER_FLAGS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(FILTER_KEYS).flatMap(([key, { field }]) => (key === 'id' ? [] : [[key, field]])),
  ),
  search: 'q',
};

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
  const fields = Object.entries(FILTER_FLAGS).map(([flag, field]) => {
    const value = flags[flag];
    return [field, field === 'status' && Array.isArray(value) ? value.join(',') : value] as const;
  });
  return { ...Object.fromEntries(fields), query: words.length === 0 ? undefined : words.join(' ') };
}
