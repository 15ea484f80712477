/** Changes all jobs that match a filter: starts an operation on the server and waits for its end. */

import { setTimeout as sleep } from 'node:timers/promises';
import { countText } from '../../api/count-text.ts';
import type { Operation } from '../../api/operation.ts';
import { routes } from '../../api/routes.ts';
import { type Output, print, printData } from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { usageError } from '../errors/cli-error.ts';
import { note } from '../errors/report.ts';
import type { Filter } from '../flags/filter.ts';
import { StatusLine } from '../output/status-line.ts';

const POLL_MS = 200;

const VERBS = {
  cancel: { ask: 'Cancel', done: 'cancelled', left: 'could not be changed' },
  retry: { ask: 'Retry', done: 'retried', left: 'could not be changed' },
  delete: { ask: 'Delete', done: 'deleted', left: 'had to stay: steps of workflows, or needed by unfinished jobs' },
} as const;

interface MatchingChange {
  action: keyof typeof VERBS;
  filter: Filter;
  /** True if every job is meant, without a filter. */
  all: boolean;
  dryRun: boolean;
  /** Do not ask. */
  yes: boolean;
  output: Output;
}

export async function changeMatching(connection: Connection, change: MatchingChange): Promise<void> {
  const { action, filter, all, dryRun, output } = change;
  if (action === 'delete' && !dryRun && !change.yes && !mayAsk(output)) {
    throw usageError('expected --yes, since nobody can be asked', '--dry-run counts the jobs that match');
  }
  if (!dryRun && !(await isConfirmed(connection, change))) return note('nothing was changed');
  const body = { action, filter, ...(all && { all }), dry_run: dryRun };
  const answer = await connection.json(routes.bulkJobs, { body });
  if (answer.operation === null) {
    if (output.json) printData(answer, output.json);
    else print(output.quiet ? String(answer.total) : matchText(answer.total));
    return;
  }
  const operation = await untilEnd(connection, answer.operation, output.quiet);
  if (output.json) printData(operation, output.json);
  else if (output.quiet) print(operation.id);
  else print(resultText(operation));
}

async function untilEnd(connection: Connection, started: Operation, silent: boolean): Promise<Operation> {
  using line = new StatusLine('');
  let operation = started;
  while (operation.status === 'running') {
    await sleep(POLL_MS);
    operation = await connection.json(routes.readOperation, { params: { id: operation.id } });
    if (!silent)
      line.show(
        `${operation.action}: ${operation.changed + operation.skipped} of ${countText(operation.total, 'job')}`,
      );
  }
  return operation;
}

function mayAsk({ json, quiet }: Output): boolean {
  return !json && !quiet && process.stdin.isTTY && process.stderr.isTTY;
}

/** On a terminal, a person confirms the number of jobs first. */
async function isConfirmed(connection: Connection, { action, filter, yes, output }: MatchingChange): Promise<boolean> {
  if (yes || !mayAsk(output)) return true;
  const { total } = await connection.json(routes.bulkJobs, { body: { action, filter, dry_run: true } });
  if (total === 0) return true;
  const { createInterface } = await import('node:readline/promises');
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await asking.question(
      `${matchText(total)}. ${VERBS[action].ask} ${total === 1 ? 'it' : 'them'}? [y/N] `,
    );
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    asking.close();
  }
}

function matchText(total: number): string {
  return countText(total, 'job matches', 'jobs match');
}

function resultText({ action, changed, skipped }: Operation): string {
  const left = skipped === 0 ? '' : `; ${skipped} ${VERBS[action].left}`;
  return `${VERBS[action].done} ${countText(changed, 'job')}${left}`;
}
