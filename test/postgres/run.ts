/**
 * Runs the tests that depend on PostgreSQL on an older version of it: the contract, locks, faults, and the plans of all statements.
 *
 *   npm run test:postgres [-- 15 16 17 18]
 *
 * By default on the oldest that Workron promises. The versions are those of package.json in this folder, which are installed there
 * when they are needed, and the one that comes with Workron's own packages.
 */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

const OLDEST = '15';
const TESTS = ['store/postgres/', 'store/model', 'process/postgres', 'process/failover', 'process/restore'];

const folder = import.meta.dirname;
const versions = process.argv.length > 2 ? process.argv.slice(2) : [OLDEST];

if (!existsSync(join(folder, 'node_modules', `postgresql-${OLDEST}`))) {
  console.error('installing older versions of PostgreSQL into test/postgres/node_modules …');
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-package-lock'];
  const { status } = spawnSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error('npm could not install the older versions of PostgreSQL');
}
for (const version of versions) {
  console.log(`PostgreSQL ${version}`);
  const { status } = spawnSync(process.execPath, [join(dirname(folder), 'run.ts'), ...TESTS], {
    stdio: 'inherit',
    // The server of another run has another version.
    env: { ...process.env, WORKRON_TEST_PG_URL: undefined, WORKRON_TEST_PG_VERSION: version },
  });
  if (status !== 0) process.exitCode = 1;
}
