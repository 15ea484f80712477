/** One change to all jobs that match a filter: an operation of the server, watched to its end. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Operation } from '../api/operation.ts';
import { routes } from '../api/routes.ts';
import { type Output, print, printJson } from './client-command.ts';
import type { Connection } from './connection.ts';
import type { Filter } from './filter-flags.ts';

const LOOK_EVERY_MS = 200;

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
    await sleep(LOOK_EVERY_MS);
    operation = await connection.json(routes.readOperation, { params: { id: operation.id } });
  }
  return operation;
}
