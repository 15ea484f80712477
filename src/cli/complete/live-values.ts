/** Names and ids that exist on the server, newest or first ones. */

import { routes } from '../../api/routes.ts';
import { usedQueues } from '../commands/queues.ts';
import type { Connection } from '../connection.ts';
import { oneLine } from '../output/style.ts';

export interface Candidate {
  value: string;
  about?: string;
}

const KINDS = ['job', 'queue', 'worker', 'schedule', 'workflow', 'definition'] as const;
export type ValueKind = (typeof KINDS)[number];

/** Somebody waits at the keyboard. */
const TIMEOUT_MS = 3_000;
const LIMIT = 50;

const READ: Readonly<Record<ValueKind, (connection: Connection) => Promise<Candidate[]>>> = {
  async job(connection) {
    const { items } = await connection.json(routes.listJobs, { query: { limit: LIMIT }, timeoutMs: TIMEOUT_MS });
    return items.map(({ id, status, name, command, handler }) => ({
      value: id,
      about: `${status} ${name ?? command ?? handler ?? ''}`,
    }));
  },
  async queue(connection) {
    const { queues } = await usedQueues(connection, { timeoutMs: TIMEOUT_MS });
    return queues.map(({ name, pending }) => ({ value: name, about: `${pending} pending` }));
  },
  async worker(connection) {
    const { items } = await connection.json(routes.listWorkers, { timeoutMs: TIMEOUT_MS });
    return items.map(({ id, name, state }) => ({ value: id, about: `${state} ${name}` }));
  },
  async schedule(connection) {
    const { items } = await connection.json(routes.listSchedules, { query: { limit: 200 }, timeoutMs: TIMEOUT_MS });
    return items.map(({ name, description }) => ({ value: name, about: description ?? '' }));
  },
  async workflow(connection) {
    const { items } = await connection.json(routes.listWorkflows, { query: { limit: LIMIT }, timeoutMs: TIMEOUT_MS });
    return items.map(({ id, name, status }) => ({ value: id, about: `${status} ${name}` }));
  },
  async definition(connection) {
    const { items } = await connection.json(routes.listDefinitions, { query: { limit: 200 }, timeoutMs: TIMEOUT_MS });
    return items.map(({ name, version }) => ({ value: name, about: `version ${version}` }));
  },
};

export async function liveValues(connection: Connection, kind: ValueKind): Promise<Candidate[]> {
  return await READ[kind](connection);
}

/** One candidate a line, with a tab before its description. */
export function candidateLines(candidates: readonly Candidate[]): string {
  return candidates
    .map(({ value, about = '' }) => (about === '' ? `${value}\n` : `${value}\t${oneLine(about).slice(0, 60)}\n`))
    .join('');
}
