/**
 * A base backup of a server that runs, as pg_basebackup makes it: that program is not among the binaries of the npm package. The
 * server is told, its files are copied, and the copy gets the label that says where its recovery begins.
 */

import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { PostgresServer } from './postgres-server.ts';

/** For `makeData` of a server that starts from a base backup. `stand by` follows the server; `recover` reads the log from its archive. */
export async function copyData(server: PostgresServer, target: string, to: 'stand by' | 'recover'): Promise<void> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    await client.query(`select pg_backup_start('test', true)`);
    // A file may go while it is copied; the log has it.
    spawnSync('cp', ['-a', server.data, target]);
    const { rows } = await client.query<{ label: string }>('select labelfile as label from pg_backup_stop(false)');
    const { uid, gid } = statSync(target);
    const add = (name: string, text: string) => {
      writeFileSync(join(target, name), text);
      chownSync(join(target, name), uid, gid);
    };
    for (const name of ['postmaster.pid', 'postmaster.opts']) rmSync(join(target, name), { force: true });
    add('backup_label', rows[0]?.label ?? '');
    add(to === 'stand by' ? 'standby.signal' : 'recovery.signal', '');
    chmodSync(target, 0o700);
  } finally {
    await client.end();
  }
}
