import { allPages } from '../../api/http-client.ts';
import { routes } from '../../api/routes.ts';
import type { Worker } from '../../api/worker.ts';
import type { Connection } from '../connection.ts';

/** Returns all workers, from as many pages as needed. */
export function listWorkers(connection: Connection, call: { timeoutMs?: number } = {}): Promise<Worker[]> {
  return allPages((cursor) => connection.json(routes.listWorkers, { ...call, query: { cursor } }));
}
