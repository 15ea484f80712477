/** The tests that `npm run test:full` runs and `npm test` skips, each with its reason. */

import { effort } from './effort.ts';

const SAME_CHARGE = 'the contract and worker/prefetch test who is charged; on PostgreSQL it runs every time';

const FULL_ONLY = {
  'chaos: nothing is lost and no attempts overlap': 'minutes of faults; the simulation draws the same faults',
  'failover: with an asynchronous replica':
    'the losses are those of PostgreSQL; with a synchronous one it runs every time',
  'image: the steps of the Dockerfile': 'installs from the registry, for minutes',
  'install: npm install, npx workron up': 'installs from the registry, for minutes; package/package installs this Node',
  'package: on the oldest runtimes': 'installs other versions of Node from the registry',
  'poison: in the process that owns a SQLite file': SAME_CHARGE,
  'poison: over HTTP': SAME_CHARGE,
  'prune: jobs that were too young': 'writes 220,000 jobs',
  'restore: by a base backup and its archive':
    'the archive is that of PostgreSQL; a copy of a file is started every time',
  'server with little memory': 'writes 100,000 steps',
} as const;

/** For `skip`: the reason why a test of the list does not run now, or false. */
export function fullOnly(name: keyof typeof FULL_ONLY): string | false {
  return !effort.full && FULL_ONLY[name];
}
