/** Changes all jobs that match a filter: starts an operation on the server and waits for its end. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Operation } from '../../api/operation.ts';
import { routes } from '../../api/routes.ts';
import { type Output, print, printJson } from '../client-command.ts';
import type { Connection } from '../connection.ts';
import type { Filter } from '../flags/filter.ts';

const POLL_MS = 200;

export interface MatchingChange {
  action: 'cancel' | 'retry';
  filter: Filter;
  dryRun: boolean;
  output: Output;
}

export async function changeMatching(connection: Connection, change: MatchingChange): Promise<void> {
  const { action, filter, dryRun, output } = change;
  const body = { action, filter, dry_run: dryRun };
  const answer = await connection.json(routes.bulkJobs, { body });
  if (answer.operation === null) {
    if (output.json) printJson(answer);
    else print(output.quiet ? String(answer.total) : `${answer.total} jobs match`);
    return;
  }
  const operation = await untilEnd(connection, answer.operation);
  if (output.json) printJson(operation);
  else if (output.quiet) print(operation.id);
  else print(`${action}: ${operation.changed} of ${operation.total} jobs, ${operation.skipped} could not be`);
}

async function untilEnd(connection: Connection, started: Operation): Promise<Operation> {
  let operation = started;
  while (operation.status === 'running') {
    await sleep(POLL_MS);
    operation = await connection.json(routes.readOperation, { params: { id: operation.id } });
  }
  return operation;
}
