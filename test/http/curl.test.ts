import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { openTestServer } from '../kit/http.ts';

const run = promisify(execFile);

/** What a terminal prints for this line. */
async function shell(line: string): Promise<string> {
  return (await run('sh', ['-c', line])).stdout;
}

test('curl as typed submits a job', async () => {
  await using server = await openTestServer();
  const answer = await shell(`curl -s -d '{"command":"echo hi"}' ${server.url}/jobs`);
  assert.equal(JSON.parse(answer).command, 'echo hi');
  const status = await shell(
    `curl -s -o /dev/null -w '%{http_code}' -H 'Content-Type:' -d '{"command":"a"}' ${server.url}/jobs`,
  );
  assert.equal(status, '201');
  const listed = await shell(
    `printf '[{"command":"b"},{"command":"c"}]' | curl -s --data-binary @- ${server.url}/jobs`,
  );
  assert.equal(JSON.parse(listed).items.length, 2);
});

test('the same line from a page of another origin, or under a foreign name, is refused', async () => {
  await using server = await openTestServer();
  for (const header of ['Origin: https://evil.example', 'Host: evil.example', 'Sec-Fetch-Site: cross-site']) {
    const status = await shell(
      `curl -s -o /dev/null -w '%{http_code}' -H '${header}' -d '{"command":"echo hi"}' ${server.url}/jobs`,
    );
    assert.equal(status, '403', header);
  }
  assert.deepEqual((await server.call('GET', '/jobs')).body.items, []);
});

test('curl reads, cancels and follows', async () => {
  await using server = await openTestServer();
  await shell(`curl -s -d '{"command":"a"}' ${server.url}/jobs`);
  assert.equal(await shell(`curl -s -X POST -o /dev/null -w '%{http_code}' ${server.url}/jobs/1/cancel`), '200');
  assert.equal(JSON.parse(await shell(`curl -s ${server.url}/jobs/1`)).status, 'cancelled');
  assert.equal(await shell(`curl -sN '${server.url}/jobs/1/logs?follow=true'`), '');
  assert.match(await shell(`curl -s -I ${server.url}/health`), /^HTTP\/1\.1 200/);
});
