/** The Python blocks of the documents, run with the machine's python3 against a real server. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { Client } from '../../src/client.ts';
import { onPath } from '../kit/on-path.ts';
import { startWorkron, type WorkronProcess } from '../kit/workron-process.ts';

const root = join(import.meta.dirname, '..', '..');
const skip = !onPath('python3') && 'python3 is not installed';
let server: WorkronProcess;

before(async () => {
  server = await startWorkron({ args: ['up', '--port', '0', '--db-url', 'memory:', '--log-level', 'warn'] });
});
after(() => server[Symbol.asyncDispose]());

/** The blocks of a page. A block that "becomes" another one is the same job in another system. */
function blocksOf(page: string): { code: string; foreign: boolean }[] {
  const content = readFileSync(join(root, 'docs', page), 'utf8');
  const found = [...content.matchAll(/^```python\n(.*?)^```\n(\nbecomes)?/gms)];
  return found.map(([, code = '', becomes]) => ({ code, foreign: becomes !== undefined }));
}

function python(code: string) {
  return spawn('python3', ['-c', code], {
    env: {
      ...process.env,
      PYTHONPATH: join(root, 'clients', 'python'),
      WORKRON_URL: server.url,
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

async function output(code: string, input = ''): Promise<string> {
  const child = python(code);
  const ended = once(child, 'exit');
  child.stdin.end(input);
  const printed = await text(child.stdout);
  assert.deepEqual(await ended, [0, null]);
  return printed;
}

test('docs: python.md submits a job and waits for it', { skip }, async () => {
  const [submit = assert.fail()] = blocksOf('python.md');
  const code = submit.code.replace('http://127.0.0.1:8080', server.url).replace('make report', 'exit 4');
  assert.match(await output(code.replace('timeout="10m"', 'max_attempts=1')), /^exit exit 4\n/);
});

test('docs: the worker of python.md runs jobs until it is stopped', { skip }, async () => {
  const [, worker = assert.fail()] = blocksOf('python.md');
  const child = python(worker.code);
  const client = new Client({ url: server.url });
  const { id } = await client.submit({ handler: 'resize', input: { width: 640 }, queue: 'images' });
  const job = await client.waitJob(id, { timeout: '60s' });
  assert.deepEqual([job.status, job.result], ['done', { width: 640 }]);
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

/** The worker of the application: it begins to work once it has a handler. */
const APPLICATION = `
import threading
from workron import Client, Worker

client = Client()
worker = Worker(client)
register = worker.handler

def handler(name):
    def started(function):
        register(name)(function)
        threading.Thread(target=worker.run, daemon=True).start()
        return function
    return started

worker.handler = handler
`;

test('docs: the Python blocks of coming-from.md give the same result, and those of others are Python', {
  skip,
}, async () => {
  const blocks = blocksOf('coming-from.md');
  const [own = assert.fail()] = blocks.filter(({ foreign }) => !foreign);
  const lines = own.code.replace('delay="10s"', 'delay="10ms"').replace(/^client\.result\(.*\)$/m, 'print($&)');
  assert.equal(await output(APPLICATION + lines), '3\n');
  for (const { code } of blocks) {
    await output('import ast, sys; ast.parse(sys.stdin.read())', code);
  }
});
