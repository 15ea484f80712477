/** Messages survive whoever was about to send them. */

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../kit/eventually.ts';
import { openHookReceiver, signedText } from '../kit/hook-receiver.ts';
import { api, startWorkron, temporaryFolder } from '../kit/workron-process.ts';

interface Detail {
  id: string;
  status: string;
  notifications: { event: string; job_id: string }[];
  notifies: { job_id: string } | null;
}

test('kill -9 between ends and their messages: each failure is told of by one job, signed', {
  timeout: 120_000,
}, async () => {
  await using folder = await temporaryFolder();
  await using receiver = await openHookReceiver();
  const settings = `
notify:
  - on: [failed]
    webhook: ${receiver.url}/hook
notify-secret: hush
notify-allow-private: [127.0.0.1]
`;
  await writeFile(join(folder.path, 'workron.yaml'), settings);
  const args = ['up', '--port', '0', '--workers', '4', '--db-url', 'jobs.db'];
  const jobs: string[] = [];
  for (let life = 0; life < 2; life += 1) {
    await using workron = await startWorkron({ args, cwd: folder.path });
    const bodies = Array.from({ length: 10 }, (_, n) => ({ name: `n${n}`, command: 'exit 7', max_attempts: 1 }));
    const { items } = await api<{ items: { id: string }[] }>(workron.url, '/jobs', bodies);
    jobs.push(...items.map(({ id }) => id));
    // Some have ended, some are told of, some are neither: then it dies.
    await eventually(async () => {
      const { items: failed } = await api<{ items: unknown[] }>(workron.url, '/jobs?status=failed&limit=200');
      return failed.length > life * 10 + 4;
    });
    workron.signal('SIGKILL');
    await workron.exited;
  }
  await using workron = await startWorkron({ args, cwd: folder.path });
  const details = await eventually(async () => {
    const found = await Promise.all(jobs.map((id) => api<Detail>(workron.url, `/jobs/${id}`)));
    return found.every(({ status, notifications }) => status === 'failed' && notifications.length > 0) && found;
  });
  assert.deepEqual(
    details.map(({ notifications }) => notifications.length),
    Array(jobs.length).fill(1),
  );
  const carriers = details.map(({ notifications }) => notifications[0]?.job_id as string);
  const delivered = await eventually(async () => {
    const found = await Promise.all(carriers.map((id) => api<Detail>(workron.url, `/jobs/${id}`)));
    return found.every(({ status }) => status === 'done') && found;
  });
  assert.deepEqual(
    delivered.map(({ notifies }) => notifies?.job_id),
    jobs,
  );
  const told = new Set(receiver.received.map(({ body }) => (JSON.parse(body) as { job: { id: string } }).job.id));
  assert.deepEqual(told, new Set(jobs));
  for (const { body, headers } of receiver.received) {
    const expected = createHmac('sha256', 'hush').update(signedText({ headers, body })).digest('hex');
    assert.equal(headers['x-workron-signature'], `sha256=${expected}`);
  }
  await assert.rejects(
    startWorkron({ args: [...args, '--notify', '[{"on": ["faild"], "webhook": "https://a.example"}]'] }),
    /notify: .*\/0\/on\/0/s,
  );
});
