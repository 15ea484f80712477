/** Examines the machine and the store, without changing either. */

import type { StoreChoice } from '../../ops/settings/settings.ts';
import { type Finding, ok } from './finding.ts';
import { examineMachine } from './machine.ts';

/** Without a store, only the machine is examined. */
export async function examine(store?: StoreChoice, schema = ''): Promise<Finding[]> {
  if (store === undefined) return await examineMachine();
  return [...(await examineMachine()), ...(await examineStore(store, schema))];
}

async function examineStore(store: StoreChoice, schema: string): Promise<Finding[]> {
  switch (store.driver) {
    case 'memory':
      return [ok('store', 'memory: jobs are gone when the process ends')];
    case 'sqlite':
      return (await import('./sqlite.ts')).examineSqlite(store.file);
    case 'postgres':
      return (await import('./postgres.ts')).examinePostgres(store.url, schema);
  }
}
