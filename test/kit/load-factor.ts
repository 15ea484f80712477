/** How much longer things take on this machine now than they would if it had nothing else to do. */

/** Processor time that is spent on the measurement. */
const WORK_MS = 60;
const MAX_FACTOR = 6;

/**
 * Works for a moment and compares the time that passed with the processor time that was used: 1 on an idle machine, about n
 * where n processes share each processor. For tests whose subject is time: a bound in milliseconds is multiplied by it.
 */
export function loadFactor(): number {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  let used = 0;
  for (let value = 1; used < WORK_MS; ) {
    for (let i = 0; i < 100_000; i += 1) value = (value * 48_271) % 2_147_483_647;
    const { user, system } = process.cpuUsage(before);
    used = (user + system) / 1_000;
  }
  const factor = (performance.now() - startedAt) / used;
  return Math.min(MAX_FACTOR, Math.max(1, factor));
}
