/** How long `workron promote`, an export and a restore take: `node bench/promote.ts 1000000`. */

import { createReadStream, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { exportToFile } from '../src/node/export/export.ts';
import { restore } from '../src/node/export/restore.ts';
import { promote } from '../src/node/promote/promote.ts';
import { systemClock } from '../src/ops/clock.ts';
import { silentLog } from '../src/ops/log.ts';
import { openSqlite } from '../src/store/sqlite/base/open.ts';
import { startPostgres } from '../test/kit/postgres.ts';
import { connectAdmin } from './admin.ts';
import { processorTimeUs } from './processor-time.ts';

const jobs = Number(process.argv[2] ?? 100_000);
const folder = await mkdtemp(join(tmpdir(), 'workron-bench-'));
const file = join(folder, 'workron.db');
await using server = await startPostgres({ durable: true });
await using admin = await connectAdmin(server.url);
try {
  await fill();
  console.log(`${jobs} jobs, ${megabytes(file)} MB`);
  await measure('promote', () => promote({ file, url: server.url, schema: 'promoted', tell: () => undefined }));
  const store = { driver: 'sqlite' as const, file };
  const lines = join(folder, 'all.jsonl');
  await measure('export', () => exportToFile(lines, { store, schema: '', tell: () => undefined }));
  console.log(`${megabytes(lines)} MB`);
  const copy = { driver: 'sqlite' as const, file: join(folder, 'copy.db') };
  const input = () => createReadStream(lines);
  await measure('restore', () => restore({ input: input(), store: copy, schema: '', tell: () => undefined }));
  const back = { store: { driver: 'postgres' as const, url: server.url }, schema: 'promoted', tell: () => undefined };
  await measure('export from PostgreSQL', () => exportToFile(join(folder, 'back.jsonl'), back));
} finally {
  await rm(folder, { recursive: true, force: true });
}

function megabytes(path: string): number {
  return Math.round(statSync(path).size / 1e6);
}

/** Ended jobs with an attempt each; a tenth with output, a twentieth with a result, a hundredth waits. */
async function fill(): Promise<void> {
  await (await openSqlite({ file, clock: systemClock, log: silentLog }))[Symbol.asyncDispose]();
  using database = new DatabaseSync(file);
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${jobs})`;
  const now = Date.now();
  database.exec(`begin;
    insert into lane (key, queue) values ('["default","",[],{}]', 'default');
    insert into job (id, queue, kind, name, priority, tags, created_at, spec) ${numbers}
      select i, 'queue-' || (i % 20), '', 'job-' || (i % 500), i % 3, iif(i % 10 = 0, '["nightly"]', '[]'), ${now} - i * 7,
        json_object('command', 'echo working on item ' || i || ' of the list') from n;
    insert into run (job_id, attempt, status, outcome, worker_id, started_at, ended_at, due, exit_code, attempts, failures,
        interruptions, snoozes, losses) ${numbers}
      select i, 1, 'done', 'done', 1, ${now} - i * 7, ${now} - i * 7 + 3, ${now} - i * 7 - 2, 0, 1, 0, 0, 0, 0 from n
      where i % 100 <> 0;
    insert into live (job_id, status, lane, rank, due) ${numbers}
      select i, 'pending', 1, 0, ${now} - i * 7 from n where i % 100 = 0;
    insert into log (job_id, attempt, start, data, received_at) ${numbers}
      select i, 1, 0, cast('working on item ' || i || char(10) || 'done' as blob), ${now} from n where i % 10 = 1;
    insert into result (job_id, value) ${numbers} select i, json_object('rows', i) from n where i % 20 = 1;
    commit`);
}

async function measure(what: string, body: () => Promise<unknown>): Promise<void> {
  const [start, ours, theirs] = [performance.now(), process.cpuUsage(), processorTimeUs([admin.postmaster], [])];
  await body();
  const { user, system } = process.cpuUsage(ours);
  const seconds = [
    performance.now() - start,
    (user + system) / 1e3,
    (processorTimeUs([admin.postmaster], []) - theirs) / 1e3,
  ];
  const [wall, node, postgres] = seconds.map((ms) => `${(ms / 1_000).toFixed(1)} s`);
  console.log(`${what}: ${wall}; processor time ${node} here, ${postgres} in PostgreSQL`);
}
