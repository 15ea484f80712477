import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { libraryReference } from '../kit/library-reference.ts';

test('docs: library-reference.md is what the types say', () => {
  const written = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'library-reference.md'), 'utf8');
  assert.equal(written, libraryReference(), 'run: node test/kit/library-reference.ts > docs/library-reference.md');
});
