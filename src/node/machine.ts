/** What this machine, or the container, has: resources of a worker that does not name them itself. */

import { availableParallelism, totalmem } from 'node:os';

const MIB = 1_048_576;
/** Machines of one kind differ by a little. Workers that offer the same share their polls of the store. */
const MEMORY_STEP_MB = 64;

export function machineResources(): { cpu: number; memory_mb: number } {
  const limit = process.constrainedMemory();
  const total = totalmem();
  const bytes = limit > 0 ? Math.min(limit, total) : total;
  const steps = Math.floor(bytes / MIB / MEMORY_STEP_MB);
  return { cpu: availableParallelism(), memory_mb: steps * MEMORY_STEP_MB };
}
