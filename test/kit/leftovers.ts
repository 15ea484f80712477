/** Starts everything that a test can start, prints where it is, and waits to be killed. */

import { startCall } from './command-line.ts';
import { startPostgres } from './postgres-server.ts';
import { startWorkron, temporaryFolder } from './workron-process.ts';

const folder = await temporaryFolder();
const postgres = await startPostgres();
const npm = await startWorkron({
  command: 'npm',
  args: ['start', '--', '--port', '0', '--db-url', postgres.url],
  cwd: new URL('../..', import.meta.url).pathname,
});
const [mark = ''] = process.argv.slice(2);
const call = startCall(['run', '--', `echo on; ${mark}`], { env: { WORKRON_URL: npm.url } });
call.stdout.once('data', () => {
  console.log(JSON.stringify({ folder: folder.path, port: new URL(postgres.url).port, url: npm.url, call: call.pid }));
});
setInterval(() => undefined, 1_000_000);
