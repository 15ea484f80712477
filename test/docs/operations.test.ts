import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

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
