/** A real scheduler process on one of the schemas. */

import { startWorkron, type WorkronProcess } from '../../test/kit/workron-process.ts';
import type { Grounds } from './grounds.ts';

/** `up` without a worker. */
export function startScheduler({ url }: Pick<Grounds, 'url'>, schema: string): Promise<WorkronProcess> {
  return startWorkron({
    args: ['up', '--port', '0', '--role', 'api,scheduler', '--log-level', 'error'],
    env: { LANG: 'C.UTF-8', WORKRON_DB_URL: url, WORKRON_DB_SCHEMA: schema },
  });
}
