/** What a number of jobs costs: processor time here and in the database, and write-ahead log. */

import type { Admin } from './admin.ts';
import { processorTimeUs } from './processor-time.ts';

/** Per job. NaN where it does not apply. */
export interface Usage {
  /** Microseconds of processor time, user and system, of the processes that submit or work. */
  nodeUs: number;
  /** Microseconds of all processes of the database, autovacuum included. */
  serverUs: number;
  /** Bytes of write-ahead log, images of whole pages included and left out. */
  walBytes: number;
  walBytesWithoutPages: number;
}

export const NO_USAGE: Usage = {
  nodeUs: Number.NaN,
  serverUs: Number.NaN,
  walBytes: Number.NaN,
  walBytesWithoutPages: Number.NaN,
};

export interface Metered {
  /** The processes that submit or work; their children count, too. */
  processes: readonly number[];
  /** The first process of the database; `undefined` where it runs within ours. */
  server: number | undefined;
  admin: Admin | undefined;
}

/** Starts to measure. What it answers with stops it, and divides by the number of jobs. */
export async function meter({ processes, server, admin }: Metered): Promise<(jobs: number) => Promise<Usage>> {
  const except = admin === undefined ? [] : [admin.backend];
  const read = () => ({
    nodeUs: processorTimeUs(processes, server === undefined ? [] : [server]),
    serverUs: server === undefined ? 0 : processorTimeUs([server], except),
  });
  const position = await admin?.walPosition();
  const before = read();
  return async (jobs) => {
    const after = read();
    const wal = position === undefined ? undefined : await admin?.walSince(position);
    return {
      nodeUs: (after.nodeUs - before.nodeUs) / jobs,
      serverUs: (after.serverUs - before.serverUs) / jobs,
      walBytes: (wal?.bytes ?? Number.NaN) / jobs,
      walBytesWithoutPages: wal === undefined ? Number.NaN : (wal.bytes - wal.fullPageBytes) / jobs,
    };
  };
}

/** Processor time of both sides, per job. */
export function totalUs({ nodeUs, serverUs }: Usage): number {
  return nodeUs + serverUs;
}
