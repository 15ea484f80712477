const ANSWER_MS = 15_000;
/** The slowest connection that is waited for. */
const BYTES_PER_MS = 256;

/** How long to wait until this number of bytes was sent and answered. */
export function transferMs(bytes: number): number {
  return ANSWER_MS + Math.ceil(bytes / BYTES_PER_MS);
}
