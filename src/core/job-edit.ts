/** What can be changed about a job that waits. */

export interface JobEdit {
  priority?: number;
  queue?: string;
  runAt?: number;
  timeoutMs?: number;
  maxAttempts?: number;
  tags?: readonly string[];
}
