/** Blocks of the documents that are data or part of a program: they are well formed, and Workron accepts what is meant for it. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { JobSubmission } from '../../src/api/job-submission.ts';
import { callWorkron } from '../kit/command-line.ts';
import { temporaryFolder } from '../kit/workron-process.ts';

const root = join(import.meta.dirname, '..', '..');

function blocksIn(language: string): { name: string; code: string }[] {
  return globSync(['*.md', 'docs/**/*.md'], { cwd: root }).flatMap((file) => {
    const content = readFileSync(join(root, file), 'utf8');
    const found = [...content.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))];
    return found.map(({ 1: code = '', index }) => ({
      name: `${file}:${content.slice(0, index).split('\n').length}`,
      code,
    }));
  });
}

test('docs: JSON blocks are JSON, and the jobs among them are accepted', () => {
  const blocks = blocksIn('json').map(({ name, code }) => ({
    name,
    value: JSON.parse(code) as Record<string, unknown>,
  }));
  const jobs = blocks.filter(({ value }) => 'command' in value && !('attempt' in value) && !('cron' in value));
  assert.ok(jobs.length > 0);
  for (const { name, value } of jobs) assert.deepEqual(JobSubmission.safeParse(value).error, undefined, name);
});

test('docs: YAML blocks are YAML, and workflows among them pass lint', async () => {
  await using folder = await temporaryFolder();
  const workflows = blocksIn('yaml').filter(({ code }) => 'steps' in (parse(code) as object));
  assert.ok(workflows.length >= 2);
  for (const { name, code } of workflows) {
    const file = join(folder.path, 'workflow.yaml');
    writeFileSync(file, code);
    const { code: exit, stdout, stderr } = await callWorkron(['workflow', 'lint', file]);
    assert.equal(exit, 0, `${name}\n${stdout}${stderr}`);
  }
});

test('docs: bash blocks are bash, and js blocks are modules', async () => {
  await using folder = await temporaryFolder();
  const check = (command: string, args: readonly string[]) => execFileSync(command, args, { stdio: 'pipe' });
  for (const { code } of blocksIn('bash')) check('bash', ['-n', '-c', code]);
  for (const { code } of blocksIn('js')) {
    const file = join(folder.path, 'module.mjs');
    writeFileSync(file, code);
    check(process.execPath, ['--check', file]);
  }
});
