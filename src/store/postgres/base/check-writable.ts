import { randomBytes } from 'node:crypto';
import { PROBE_BYTES } from '../../../core/output.ts';
import type { Context } from './context.ts';

/** A full disk is noticed only where a table has to grow, so the probe is as long as several jobs, and not compressible. */
export async function checkWritable({ database, sql }: Context, signal: AbortSignal): Promise<void> {
  if (!database.wasFull) {
    await database.query(sql.now, [], signal);
    return;
  }
  await database.transaction(signal, async (session) => {
    await session.query(sql.insertProbe, [randomBytes(PROBE_BYTES)]);
    await session.query(sql.deleteProbe);
  });
  database.wasFull = false;
}
