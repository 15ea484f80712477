/** Typical jobs, workflows and schedules, so that every screen has something to show. */

import { Client } from '../../src/api/client.ts';

const LOG = String.raw`i=1; while [ $i -le 40 ]; do printf '\033[36m%s\033[0m \033[32mINFO\033[0m order %d imported\n' "$(date +%T)" $i; i=$((i+1)); done; printf '\033[33mWARN\033[0m 2 orders had no address\n'; printf 'done: 40 orders\n'`;

export interface Seeded {
  orderJob: string;
  failedJob: string;
  failedWorkflow: string;
  doneWorkflow: string;
}

/** Submits jobs of several kinds and two workflows, and waits for the end of the workflows. */
export async function seedPage(url: string, token: string | null = null): Promise<Seeded> {
  const client = new Client({ url, token });
  const order = await client.submit({ name: 'import-orders', queue: 'imports', command: LOG, tags: ['eu', 'nightly'] });
  const failed = await client.submit({
    name: 'send-invoices',
    queue: 'mail',
    max_attempts: 2,
    backoff: { type: 'none' },
    command: "echo 'connecting to smtp.internal:25'; echo 'connect ECONNREFUSED 10.0.0.7:25' >&2; exit 7",
    tags: ['eu'],
  });
  await client.submitAll([
    ...Array.from({ length: 12 }, (_, i) => ({ name: 'resize-image', queue: 'images', command: `sleep 0.0${i % 9}` })),
    ...Array.from({ length: 4 }, () => ({
      name: 'sync-stock',
      queue: 'imports',
      max_attempts: 1,
      command: "echo 'warehouse answered 503'; exit 1",
    })),
    { name: 'weekly-digest', queue: 'mail', command: 'true', delay: '6h', tags: ['digest'] },
    { name: 'train-model', queue: 'gpu', command: 'true', requires: ['gpu'] },
  ]);
  await client.editQueue('images', { max_running: 8 });
  const broken = await client.submitWorkflow({
    name: 'nightly-report',
    params: { day: '2026-01-31' },
    steps: steps(true),
  });
  const fine = await client.submitWorkflow({
    name: 'nightly-report',
    params: { day: '2026-01-30' },
    steps: steps(false),
  });
  await seedSchedules(client);
  for (const id of [order.id, failed.id]) await client.waitJob(id, { timeout: '60s' });
  for (const id of [broken.id, fine.id]) await waitForWorkflow(client, id);
  return { orderJob: order.id, failedJob: failed.id, failedWorkflow: broken.id, doneWorkflow: fine.id };
}

/** Creates three schedules: one that has run, one that is paused, one with several keys. */
async function seedSchedules(client: Client): Promise<void> {
  const timezone = 'Europe/Berlin';
  await client.createSchedule({
    name: 'nightly-backup',
    cron: '30 2 * * *',
    timezone,
    job: { name: 'backup', queue: 'imports', command: 'echo 4.2 GB' },
  });
  await client.createSchedule({ name: 'poll-carriers', every: '15m', job: { name: 'poll', command: 'true' } });
  await client.createSchedule({
    name: 'weekly-invoices',
    cron: '0 7 * * MON',
    timezone,
    for_each: ['berlin', 'lyon', 'turin'],
    job: { name: 'send-invoices', queue: 'mail', command: 'true' },
  });
  await client.runSchedule('nightly-backup');
  await client.pauseSchedule('weekly-invoices', { note: 'until the new tax rates are in' });
}

function steps(breaks: boolean) {
  const flaky = breaks ? "echo 'no such table: refunds' >&2; exit 3" : 'sleep 0.3; echo 812 rows';
  return [
    { key: 'extract_orders', command: 'sleep 0.4; echo 4120 rows' },
    { key: 'extract_refunds', command: flaky, max_attempts: 1 },
    { key: 'extract_stock', command: 'sleep 0.2; echo 96 rows' },
    { key: 'clean', command: 'sleep 0.2; echo cleaned', depends_on: ['extract_orders', 'extract_stock'] },
    { key: 'join', command: 'sleep 0.3; echo joined', depends_on: ['clean', 'extract_refunds'] },
    { key: 'charts', command: 'sleep 0.2; echo 14 charts', depends_on: ['join'] },
    { key: 'pdf', command: 'sleep 0.3; echo report.pdf', depends_on: ['join'] },
    { key: 'mail', command: 'echo sent', depends_on: ['charts', 'pdf'] },
  ];
}

/** Waits for the end of a workflow by waiting for its jobs: the API has no call for workflows. */
export async function waitForWorkflow(client: Client, id: string): Promise<void> {
  for (;;) {
    const { status } = await client.readWorkflow(id);
    if (status !== 'pending' && status !== 'running') return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
