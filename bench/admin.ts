/** The benchmark's own connection to a PostgreSQL server. What it costs is not counted for anybody. */

import pg from 'pg';
import { parentOf } from './processor-time.ts';

export interface Admin extends AsyncDisposable {
  /** The process that all others of the server descend from; 0 where it is not on this machine. */
  postmaster: number;
  /** The server's process for this connection. */
  backend: number;
  /** Gives the planner statistics and the visibility map, as autovacuum does within a minute; then a checkpoint. */
  settle(options: { analyze: boolean }): Promise<void>;
  exists(from: string): Promise<boolean>;
  count(from: string): Promise<number>;
  walPosition(): Promise<string>;
  walSince(position: string): Promise<Wal>;
}

/** Bytes of write-ahead log. */
export interface Wal {
  bytes: number;
  /** Of these, images of whole pages: the first change of each page after a checkpoint. NaN where nobody can tell. */
  fullPageBytes: number;
}

export async function connectAdmin(url: string): Promise<Admin> {
  const client = new pg.Client({ connectionString: url, application_name: 'bench' });
  await client.connect();
  const first = async <Row>(text: string, values: unknown[] = []) => (await client.query(text, values)).rows[0] as Row;
  const { pid: backend } = await first<{ pid: number }>('select pg_backend_pid() as pid');
  const canInspect = await client.query('create extension if not exists pg_walinspect').then(
    () => true,
    () => false,
  );
  return {
    postmaster: parentOf(backend) ?? 0,
    backend,
    async settle({ analyze }) {
      if (analyze) await client.query('vacuum (analyze)');
      await client.query('checkpoint');
    },
    async exists(from) {
      return (await first<{ found: boolean }>(`select exists (select from ${from}) as found`)).found;
    },
    async count(from) {
      return Number((await first<{ count: string }>(`select count(*) as count from ${from}`)).count);
    },
    // The position, not pg_stat_wal: backends report to that view up to a second late.
    async walPosition() {
      return (await first<{ position: string }>('select pg_current_wal_flush_lsn()::text as position')).position;
    },
    async walSince(from) {
      const { to, bytes } = await first<{ to: string; bytes: string }>(
        'select flushed::text as to, flushed - $1::pg_lsn as bytes from pg_current_wal_flush_lsn() as flushed',
        [from],
      );
      return { bytes: Number(bytes), fullPageBytes: canInspect ? await fullPageBytes(from, to) : Number.NaN };
    },
    [Symbol.asyncDispose]: () => client.end(),
  };

  /** NaN if a checkpoint has removed some of the log meanwhile. */
  async function fullPageBytes(from: string, to: string): Promise<number> {
    const text = 'select sum(fpi_size)::bigint as bytes from pg_get_wal_stats($1::pg_lsn, $2::pg_lsn)';
    return first<{ bytes: string }>(text, [from, to]).then(
      ({ bytes }) => Number(bytes),
      () => Number.NaN,
    );
  }
}
