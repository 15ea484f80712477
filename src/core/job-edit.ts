/** The fields of a waiting job that can be edited. */

export interface JobEdit {
  priority?: number;
  queue?: string;
  runAt?: number;
  timeoutMs?: number;
  maxAttempts?: number;
  tags?: readonly string[];
}
