import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { loadSettings } from '../../src/ops/settings/load.ts';

const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'operations.md'), 'utf8');
const block = (language: string) =>
  new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(text)?.[1] ?? assert.fail();

test('docs: the systemd unit lets running jobs finish', () => {
  const unit = new Map(
    [...block('ini').matchAll(/^(\w+)=(.*)$/gm)].map(([, key, value]) => [key, value] as [string, string]),
  );
  assert.deepEqual(
    ['KillMode', 'Type', 'Restart'].map((key) => unit.get(key)),
    ['mixed', 'exec', 'on-failure'],
  );
  assert.match(unit.get('ExecStart') ?? '', /^\/\S+\/workron up$/);
});

test('docs: the compose file is one, and Workron understands the settings in it', () => {
  const { services } = parse(block('yaml'), { merge: true }) as {
    services: Record<string, { command?: string[]; environment: Record<string, string>; stop_grace_period?: string }>;
  };
  assert.deepEqual(Object.keys(services), ['db', 'scheduler', 'worker']);
  for (const name of ['scheduler', 'worker'] as const) {
    const { command, environment } = services[name] ?? assert.fail();
    assert.deepEqual(command?.slice(0, 2), ['workron', name]);
    const flags = Object.fromEntries(
      (command ?? [])
        .slice(2)
        .flatMap((word, index, words) => (index % 2 === 0 ? [[word.slice(2), words[index + 1]]] : [])),
    ) as Record<string, string>;
    const env = Object.fromEntries(
      Object.entries(environment).map(([key, value]) => [key, value.replaceAll(/\$\{\w+:\?\}/g, 'secret')]),
    );
    const settings = loadSettings({ command: name, flags, env });
    assert.equal(settings.store.driver, 'postgres');
    assert.equal(settings.token, 'secret');
  }
});
