/** The server's time, so that ages are right on a machine whose clock is not. */

let aheadMs = 0;

/** Takes note of a `Date` header; it has whole seconds, so less than that is not worth a correction. */
export function syncClock(header: string | null): void {
  const at = Date.parse(header ?? '');
  if (Number.isNaN(at)) return;
  const difference = at + 500 - Date.now();
  aheadMs = Math.abs(difference) < 1_500 ? 0 : difference;
}

export function serverNow(): number {
  return Date.now() + aheadMs;
}
