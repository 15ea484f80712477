/** The server's time, so that ages are right even if the clock of this machine is wrong. */

let aheadMs = 0;

/** Reads the time from a `Date` header. It has whole seconds, so smaller differences are ignored. */
export function syncClock(header: string | null): void {
  const at = Date.parse(header ?? '');
  if (Number.isNaN(at)) return;
  const difference = at + 500 - Date.now();
  aheadMs = Math.abs(difference) < 1_500 ? 0 : difference;
}

export function serverNow(): number {
  return Date.now() + aheadMs;
}
