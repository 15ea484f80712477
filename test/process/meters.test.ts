/** A server whose Node has loaded a meter provider. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { eventually } from '../kit/eventually.ts';
import { startWorkron, temporaryFolder } from '../kit/workron-process.ts';

test('meters: a server exports its counters to a provider that --import has registered', async () => {
  await using folder = await temporaryFolder();
  const provider = pathToFileURL(join(import.meta.dirname, '..', 'kit', 'meter-provider.ts')).href;
  await using server = await startWorkron({
    args: ['up', '--port', '0', '--log-level', 'warn', '--db-url', join(folder.path, 'w.db')],
    env: { NODE_OPTIONS: `--import=${provider}` },
    cwd: folder.path,
  });
  const headers = { 'content-type': 'application/json' };
  const { status } = await fetch(`${server.url}/jobs`, { method: 'POST', headers, body: '{"command":"true"}' });
  assert.equal(status, 201);
  await eventually(async () => /^metered done 1$/m.test(server.output()));
});
