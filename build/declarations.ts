/** Writes the declarations of the public entries: those that they name, directly or through another one. */

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

const PUBLIC = ['src/index', 'src/client', 'src/job', 'src/testing', 'contract/index'];

export function declarations(folder: string): void {
  const emitted = mkdtempSync(join(tmpdir(), 'workron-types-'));
  try {
    const args = ['-p', join(ROOT, 'tsconfig.build.json'), '--outDir', emitted, '--emitDeclarationOnly', '--noCheck'];
    execFileSync(join(ROOT, 'node_modules', '.bin', 'tsc'), args, { stdio: 'inherit' });
    for (const file of reachable(emitted)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      cpSync(join(emitted, file), join(folder, file));
    }
  } finally {
    rmSync(emitted, { recursive: true, force: true });
  }
}

function reachable(emitted: string): Set<string> {
  const found = new Set(PUBLIC.map((name) => `${name}.d.ts`));
  for (const file of found) {
    const text = readFileSync(join(emitted, file), 'utf8');
    for (const [, path] of text.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)\.[jt]s['"]/g)) {
      found.add(join(dirname(file), `${path}.d.ts`));
    }
  }
  return found;
}
