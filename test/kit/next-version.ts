/** A version of Workron after this one, with one more migration, in a folder of its own. */

import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const MIGRATION = '002_next.sql';

/** Returns the program. `sharesWith` is the oldest code that may use a database beside it; this version is code 1. */
export async function makeNextVersion(folder: string, sharesWith: 1 | 2): Promise<string> {
  const root = join(folder, `next-${sharesWith}`);
  await mkdir(root);
  await Promise.all([
    ...['src', 'bin'].map((name) => cp(join(ROOT, name), join(root, name), { recursive: true })),
    cp(join(ROOT, 'package.json'), join(root, 'package.json')),
    symlink(join(ROOT, 'node_modules'), join(root, 'node_modules')),
  ]);
  const code = join(root, 'src/store/code.ts');
  const text = await readFile(code, 'utf8');
  await writeFile(
    code,
    replaceOnce(replaceOnce(text, ' CODE = 1', ' CODE = 2'), 'SHARED_CODE = 1', `SHARED_CODE = ${sharesWith}`),
  );
  for (const [dialect, job] of [
    ['sqlite', 'job'],
    ['postgres', 'workron.job'],
  ] as const) {
    const migration = join(root, 'src/store', dialect, 'migrations', MIGRATION);
    await writeFile(migration, `alter table ${job} add column colour text not null default 'red';\n`);
  }
  return join(root, 'bin', 'workron');
}

function replaceOnce(text: string, from: string, to: string): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`found ${parts.length - 1} times: ${from}`);
  return parts.join(to);
}
