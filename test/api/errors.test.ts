import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { ERROR_TITLES, errorFromProblem, problemFrom } from '../../src/api/problem.ts';
import { ERROR_CODES, type ErrorCode, WorkronError } from '../../src/core/error.ts';

test('docs/api-errors.md lists every code with its status, and no other', async () => {
  const page = await readFile(new URL('../../docs/api-errors.md', import.meta.url), 'utf8');
  const documented = [...page.matchAll(/^\| `(\w+)` \| (\d{3}) \| (.+) \|$/gm)].map(([, code, status]) => [
    code,
    Number(status),
  ]);
  assert.deepEqual(Object.fromEntries(documented), ERROR_CODES);
  assert.equal(documented.length, Object.keys(ERROR_CODES).length);
});

test('every code is thrown somewhere', () => {
  const src = join(import.meta.dirname, '..', '..', 'src');
  // The tables of codes name each of them, thrown or not.
  const tables = ['core/error.ts', 'api/problem.ts'];
  const files = globSync('**/*.{ts,sql}', { cwd: src }).filter((file) => !tables.includes(file));
  const source = files.map((file) => readFileSync(join(src, file), 'utf8')).join('\n');
  // Clients make an error of every reply, also of one that a proxy sent.
  const received = Array.from({ length: 200 }, (_, i) => errorFromProblem(400 + i, undefined).code as string);
  const thrown = (code: string) => received.includes(code) || new RegExp(`WorkronError\\(\\s*'${code}'`).test(source);
  assert.deepEqual(
    Object.keys(ERROR_CODES).filter((code) => !thrown(code)),
    [],
  );
});

test('every code survives the wire', () => {
  for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
    const errors = [{ pointer: '/a', detail: 'b' }];
    const problem = problemFrom(new WorkronError(code, 'why', { errors, jobId: 7 }), 'r1');
    assert.deepEqual(
      [problem.status, problem.code, problem.title, problem.detail, problem.request_id, problem.job_id],
      [ERROR_CODES[code], code, ERROR_TITLES[code], 'why', 'r1', '7'],
    );
    assert.match(problem.title, /^[A-Z].*[^.]$/);
    const back = errorFromProblem(problem.status, JSON.parse(JSON.stringify(problem)), 3);
    assert.deepEqual([back.code, back.message, back.details], [code, 'why', { errors, retryAfterMs: 3_000 }]);
  }
});

test('answers that are none of ours are understood by their status', () => {
  const codeOf = (status: number, body?: unknown) => errorFromProblem(status, body).code;
  assert.equal(codeOf(502, '<html>'), 'overloaded');
  assert.equal(codeOf(404), 'not_found');
  assert.equal(codeOf(500, {}), 'internal');
  const newer = { ...problemFrom(new WorkronError('lease_lost', 'x'), 'r'), code: 'of_the_future' };
  assert.equal(codeOf(409, newer), 'illegal_transition');
});
