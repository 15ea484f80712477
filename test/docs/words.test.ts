/** Phrases that were reworded do not come back, in what the program, the page or the documentation says. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..', '..');

const REWORDED: readonly (readonly [RegExp, string])[] = [
  [/no Workron answers/, 'cannot connect to Workron'],
  [/say where it is by/, 'set --url or WORKRON_URL'],
  [/\d as they were|is as it was/, 'unchanged'],
  [/Nobody is notified/, 'No installation-wide notifications are set.'],
  [/Examine again/, 'Check again'],
  [/'Heard'/, 'Last seen'],
  [/performs all/, 'nothing: it tells nobody anything'],
  [/token of the server's settings is valid/, "Only the server's own token works."],
  [/Enter your token/, 'Paste an access token'],
  [/No limit or rate of a key|Limits and rates of keys</, 'Keyed limits'],
  [/exists as soon as a job names it\.</, 'Queues are created when first used.'],
  [/of those that ended/, 'of finished jobs'],
  [/>without a name</, '(unnamed)'],
  [/Count all\b/, 'Show total'],
  [/It exited with code/, 'exit 1'],
  [/>\s*Turn\s*</, 'Rotate'],
  [/free to run, waiting/, 'ready, waiting for a slot'],
  [/waits for places for/, 'waiting for 8 free slots'],
  [/with these keys count again|whatever the jobs say/, "the jobs' own limits apply"],
  [/it is not shown again/, "it won't be shown again"],
  [/a whole copy of/, 'Backed up A to B'],
  [/title: 'VERDICT'|title: 'THROUGH'/, 'TICK, FIRES'],
  [
    /^# Growing|^# Security: what|"run me again later"|^## What it promises/m,
    'Scaling, Security model, snooze, Guarantees',
  ],
  [/It never loses one/, 'without losing any'],
];

test('words: phrases that were reworded do not come back', () => {
  const files = [
    'src/cli/**/*.ts',
    'src/api/**/*.ts',
    'src/node/**/*.ts',
    'ui/src/**/*.tsx',
    'docs/*.md',
    'README.md',
  ].flatMap((pattern) => globSync(pattern, { cwd: root }));
  assert.ok(files.length > 300);
  const found = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return REWORDED.filter(([old]) => old.test(text)).map(([old, better]) => `${file}: ${old.source} → ${better}`);
  });
  assert.deepEqual(found, []);
});

test('words: the glossary has at most 80 terms, and each of them once', () => {
  const text = readFileSync(join(root, 'docs', 'glossary.md'), 'utf8');
  const terms = [...text.matchAll(/\*\*(\w[^*]*)\*\*/g)].map(([, term]) => (term as string).toLowerCase());
  assert.ok(terms.length > 60 && terms.length <= 80, String(terms.length));
  assert.deepEqual(terms, [...new Set(terms)]);
});
