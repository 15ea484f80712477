/** Messages about an application's jobs, delivered by its own process. */

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { job, open } from '../../src/index.ts';
import { eventually } from '../kit/eventually.ts';
import { openHookReceiver, signedText } from '../kit/hook-receiver.ts';
import { openTestServer } from '../kit/http.ts';

function failing(webhook: string) {
  return job('failing', {
    maxAttempts: 1,
    notify: [{ on: ['failed'], webhook }],
    run: () => {
      throw new Error('no');
    },
  });
}

test('notify: the targets of the job, the submission and the installation are notified by the process that runs jobs', async () => {
  await using receiver = await openHookReceiver();
  await using workron = await open('memory:', {
    log: 'silent',
    notify: [{ on: ['failed', 'recovered'], webhook: `${receiver.url}/installation` }],
    notifySecret: 'hush',
    notifyAllowPrivate: ['127.0.0.1'],
    publicUrl: 'https://jobs.example',
  });
  const fails = failing(`${receiver.url}/job`);
  await workron.start({ jobs: [fails] });
  const [own, other] = [
    await workron.submit(fails),
    await workron.submit(fails, undefined, { notify: [{ on: ['failed'], webhook: `${receiver.url}/submission` }] }),
  ];
  await eventually(async () => receiver.received.length >= 4);
  const told = receiver.received.map(({ path, body }) => {
    const { job: about } = JSON.parse(body) as { job: { id: string } };
    return `${path} ${about.id}`;
  });
  assert.deepEqual(
    told.sort(),
    [`/installation ${own.id}`, `/installation ${other.id}`, `/job ${own.id}`, `/submission ${other.id}`].sort(),
  );
  for (const { body, headers } of receiver.received) {
    assert.equal(
      headers['x-workron-signature'],
      `sha256=${createHmac('sha256', 'hush').update(signedText({ headers, body })).digest('hex')}`,
    );
    assert.match(body, /https:\/\/jobs\.example\//);
  }
});

test('notify: over HTTP too; private addresses only where they are allowed', async () => {
  await using receiver = await openHookReceiver();
  await using server = await openTestServer();
  const fails = failing(`${receiver.url}/job`);
  await using workron = await open(server.url, { log: 'silent' });
  await workron.start({ jobs: [fails] });
  const handle = await workron.submit(fails);
  const message = await eventually(async () => (await handle.job()).notifications[0]?.jobId);
  const ended = await workron.handle(message).ended();
  assert.equal(ended.reason, 'fatal');
  assert.match(ended.error ?? '', /127\.0\.0\.1, a private address/);
  assert.deepEqual(receiver.received, []);
  await using allowed = await open(server.url, { log: 'silent', notifyAllowPrivate: ['127.0.0.0/8'] });
  await workron.stop();
  await allowed.start({ jobs: [fails] });
  const retried = allowed.handle(message);
  await retried.retry();
  assert.equal((await retried.ended()).status, 'done');
  assert.equal(receiver.received.length, 1);
});

test('notify: what makes no sense is refused', async () => {
  const wrong = [{ on: ['faild'], webhook: 'https://a.example' }] as unknown as [];
  await assert.rejects(open('memory:', { notify: wrong }), { code: 'bad_request' });
  await assert.rejects(
    open('memory:', { notifyAllowPrivate: ['everything'] }),
    /notifyAllowPrivate: expected networks/,
  );
  await assert.rejects(
    open('http://127.0.0.1:1', { notify: [] }),
    /^WorkronError: notify: configure it on the server; an HTTP client cannot set it$/,
  );
});
