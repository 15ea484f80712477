/** The files of the published package that are named from outside of a bundle. */

/** Name in `dist` → source. */
export type Sources = Readonly<Record<string, string>>;

export const ENTRIES: Sources = {
  cli: 'src/cli/main.ts',
  index: 'src/index.ts',
  client: 'src/client.ts',
  job: 'src/job.ts',
  testing: 'src/testing.ts',
  contract: 'contract/index.ts',
  // Shares the library's classes, such as its errors, with the module of the job that it loads.
  'isolated-thread': 'src/library/isolated-thread.ts',
};

/** The code of threads and processes, which the source names by `{ file: new URL(…) }`. */
export const STARTED: Sources = {
  launcher: 'src/worker/launcher/main.ts',
  'lease-keeper-thread': 'src/worker/lease/lease-keeper-thread.ts',
  'http-lease-keeper': 'src/worker/http-lease-keeper.ts',
  'postgres-lease-keeper': 'src/store/postgres/base/lease-keeper.ts',
  'sqlite-writer': 'src/store/sqlite/base/writer.ts',
  'sqlite-reader': 'src/store/sqlite/base/reader.ts',
  'sqlite-backup': 'src/store/sqlite/base/backup.ts',
  'isolated-thread': 'src/library/isolated-thread.ts',
};
