/** Links in the documents lead to files and headings that exist. */

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..', '..');
const DOCUMENTS = globSync(['*.md', '.github/*.md', 'docs/**/*.md', 'examples/**/*.md'], { cwd: root });

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(file: string): Set<string> {
  const prose = readFileSync(join(root, file), 'utf8').replace(/^```.*?^```/gms, '');
  const headings = [...prose.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => heading as string);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-'),
    ),
  );
}

test('docs: every link leads to a file and a heading that exist', () => {
  const broken: string[] = [];
  for (const file of DOCUMENTS) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, path = '', anchor] of text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)) {
      const target = path === '' ? file : join(dirname(file), path);
      if (!existsSync(join(root, target))) broken.push(`${file}: ${path}`);
      else if (anchor !== undefined && !anchorsOf(target).has(anchor)) broken.push(`${file}: ${path}#${anchor}`);
    }
  }
  assert.deepEqual(broken, []);
});

test('docs: decisions are numbered without a gap, and the index lists all of them by their titles', () => {
  const files = globSync('[0-9]*.md', { cwd: join(root, 'docs', 'decisions') }).sort();
  const index = readFileSync(join(root, 'docs', 'decisions', 'README.md'), 'utf8');
  const listed = [...index.matchAll(/^\d+\. \[.+\]\(.+\)$/gm)].map(([line]) => line);
  const expected = files.map((file) => {
    const [, number, title] =
      /^# (\d+)\. (.+)\n/.exec(readFileSync(join(root, 'docs', 'decisions', file), 'utf8')) ?? [];
    assert.equal(file.slice(0, 4), number?.padStart(4, '0'), file);
    return `${number}. [${title}](${file})`;
  });
  assert.deepEqual(listed, expected);
  assert.deepEqual(
    files.map((file) => Number(file.slice(0, 4))),
    files.map((_, place) => place + 1),
  );
});
