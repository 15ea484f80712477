import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../../src/ops/settings/load.ts';
import { configurationMarkdown } from '../../src/ops/settings/text.ts';
import { temporaryFolder } from '../kit/workron-process.ts';

const root = join(import.meta.dirname, '..', '..');

test('docs: configuration.md is what the table of settings says', () => {
  const written = readFileSync(join(root, 'docs', 'configuration.md'), 'utf8');
  assert.equal(written, configurationMarkdown(), 'run ./bin/workron help config > docs/configuration.md');
});

test('docs: the settings file of configuration.md is understood', async () => {
  await using folder = await temporaryFolder();
  const configFile = join(folder.path, 'workron.yaml');
  await writeFile(configFile, /^```yaml\n(.*?)^```/ms.exec(configurationMarkdown())?.[1] ?? '');
  const settings = loadSettings({ command: 'up', flags: {}, env: {}, configFile });
  assert.deepEqual(
    [settings.port, settings.store, settings.queues, settings.resources, settings.retentionDoneMs],
    [9000, { driver: 'sqlite', file: './data/workron.db' }, ['default', 'mail'], { memory_mb: 4096 }, 3 * 86_400_000],
  );
});

test('docs: dependencies.md has a reason for every package, and none for others', () => {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  const written = readFileSync(new URL('../../docs/dependencies.md', import.meta.url), 'utf8');
  const cells = written.split('\n').flatMap((line) => /^\| (.*?) \| /.exec(line)?.[1] ?? []);
  const named = cells
    .filter((cell) => cell !== 'package')
    .flatMap((cell) => cell.replace(/\[(.*?)\]\(.*?\)/g, '$1').split(', '));
  const used = Object.keys({ ...dependencies, ...devDependencies });
  assert.deepEqual([...new Set(named)].sort(), used.sort());
});
