/** Runs test files, each in a process of its own, and prints their results. */

import { once } from 'node:events';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

export interface FilesRun {
  counts: Readonly<Record<string, number>>;
  succeeded: boolean;
  /** How long each file took. */
  seconds: ReadonlyMap<string, number>;
}

export async function runFiles(
  files: readonly string[],
  options: { cwd: string; concurrency: number; signal: AbortSignal },
): Promise<FilesRun> {
  const stream = run({ files: [...files], ...options });
  const seconds = new Map<string, number>();
  let counts: Record<string, number> = {};
  let succeeded = false;
  stream.on('test:summary', (summary) => {
    if (summary.file !== undefined) {
      seconds.set(summary.file, summary.duration_ms / 1_000);
      return;
    }
    counts = summary.counts;
    succeeded = summary.success;
  });
  const report = stream.compose(new spec());
  report.pipe(process.stdout, { end: false });
  await once(report, 'end');
  return { counts, succeeded, seconds };
}
