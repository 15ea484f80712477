/**
 * Takes screenshots of every screen, dark and light, for docs/dashboard.md.
 *
 *   npm run screenshots [part of a name …]
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../../src/api/client.ts';
import { openDashboard } from '../../test/kit/dashboard.ts';
import { seedPage, waitForWorkflow } from '../../test/kit/page-seed.ts';
import { backdate } from './backdate.ts';

interface Picture {
  name: string;
  path: string;
  /** A selector that matches once the screen is complete. */
  ready: string;
  /** Keys that are pressed before the screenshot. */
  key?: string;
  /** The button that is pressed before the screenshot. */
  press?: string;
  width?: number;
  height?: number;
}

const folder = join(import.meta.dirname, '..', '..', 'docs', 'images');
const wanted = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

await using dashboard = await openDashboard();
await shoot({ name: 'welcome', path: '/ui/', ready: '.welcome' });
const seeded = await seedPage(dashboard.url);
await fillLedger(dashboard.client);
await storeWorkflow(dashboard.url);
const thumbnails = await runsOf(dashboard.client);
await dashboard.restart(async () => backdate(dashboard.folder));
await busy(dashboard.client);
for (const picture of pictures()) await shoot(picture);

function pictures(): Picture[] {
  return [
    { name: 'overview', path: '/ui/', ready: '.chart-key', height: 1060 },
    { name: 'jobs', path: '/ui/jobs', ready: '.job-row[data-job]' },
    { name: 'jobs-by-name', path: '/ui/jobs?by=name', ready: '.name-table .cell' },
    { name: 'job', path: `/ui/jobs/${seeded.orderJob}`, ready: '.log-line' },
    { name: 'job-failed', path: `/ui/jobs/${seeded.failedJob}?tab=attempts`, ready: '.attempts li' },
    { name: 'workflows', path: '/ui/workflows', ready: 'tbody tr' },
    { name: 'workflow-graph', path: `/ui/workflows/${seeded.failedWorkflow}`, ready: '.node' },
    { name: 'workflow-gantt', path: `/ui/workflows/${thumbnails}?view=gantt`, ready: '.gantt-item' },
    { name: 'schedules', path: '/ui/schedules', ready: '.cell' },
    { name: 'schedules-month', path: '/ui/schedules?view=month', ready: '.calendar-entry', height: 1060 },
    { name: 'schedule', path: '/ui/schedules/nightly-backup', ready: '.ledger li' },
    { name: 'schedule-form', path: '/ui/schedules', ready: '.cell', press: 'New schedule' },
    { name: 'queues', path: '/ui/queues', ready: 'tbody tr' },
    { name: 'queue', path: '/ui/queues/show?name=images', ready: '.job-list li' },
    { name: 'workers', path: '/ui/workers', ready: 'article' },
    { name: 'cluster', path: '/ui/cluster', ready: 'tbody tr' },
    { name: 'palette', path: '/ui/jobs', ready: '.job-row[data-job]', key: 'Control+k' },
    { name: 'phone', path: '/ui/jobs', ready: '.job-row[data-job]', width: 390 },
  ];
}

async function shoot({ name, path, ready, key, press, width = 1180, height = 720 }: Picture): Promise<void> {
  if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) return;
  for (const colorScheme of ['light', 'dark'] as const) {
    await using screen = await dashboard.open(path, {
      colorScheme,
      viewport: { width, height },
      reducedMotion: 'reduce',
    });
    await screen.page.locator(ready).first().waitFor();
    await screen.page.locator('.live-live').waitFor();
    if (key !== undefined) await screen.page.keyboard.press(key);
    if (press !== undefined) {
      await screen.page.getByRole('button', { name: press }).click();
      await screen.page.locator('.preview li').first().waitFor();
    }
    // Charts are drawn a moment after their legend.
    await screen.page.waitForTimeout(500);
    await screen.page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) });
  }
}

/** Runs of the last day and weeks, some of which failed. */
async function fillLedger(client: Client): Promise<void> {
  const ago = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
  const job = { command: '/usr/local/bin/renew-certs --all', max_attempts: 1 };
  await client.createSchedule({ name: 'certs-renew', cron: '0 */3 * * *', overlap: 'allow', job });
  const rollup = { command: 'echo rolled up; [ $(($WORKRON_JOB_ID % 9)) -gt 0 ]', max_attempts: 1 };
  await client.createSchedule({ name: 'rollup-metrics', every: '30m', overlap: 'allow', job: rollup });
  const ranges = { 'nightly-backup': 20, 'poll-carriers': 0.9, 'certs-renew': 0.9, 'rollup-metrics': 0.9 };
  for (const [name, days] of Object.entries(ranges)) {
    const { items } = await client.backfillSchedule(name, { from: ago(days), to: ago(0) });
    await client.waitJob(items.at(-1)?.job_id ?? '', { timeout: '120s' });
  }
}

/** A stored workflow with three runs. */
async function storeWorkflow(url: string): Promise<void> {
  const source = `name: load-orders
description: Loads the orders of a day into the warehouse
params: {day: {description: The day to load}, mode: {enum: [full, delta], default: delta}}
steps:
  extract: {command: sleep 0.2}
  load: {command: sleep 0.3, depends_on: [extract]}`;
  const headers = { 'content-type': 'application/json' };
  const send = async (method: string, path: string, body: object): Promise<void> => {
    const { ok, status } = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
    if (!ok) throw new Error(`${method} ${path}: ${status}`);
  };
  await send('PUT', '/definitions/load-orders', { source });
  for (const day of ['sunday', 'monday', 'tuesday']) {
    await send('POST', '/definitions/load-orders/run', { params: { day } });
  }
}

/** Four runs of a workflow with items and retries. Returns the last, in which an item fails. */
async function runsOf(client: Client): Promise<string> {
  let last = '';
  for (const bad of [99, 99, 99, 17]) {
    const { id } = await client.submitWorkflow({
      name: 'thumbnails',
      steps: [
        { key: 'list', command: 'sleep 0.2; echo 24 images' },
        {
          key: 'resize',
          for_each: Array.from({ length: 24 }, (_, item) => item),
          command: `sleep 0.1; [ "$WORKRON_ITEM" != ${bad} ]`,
          max_attempts: 1,
          depends_on: ['list'],
        },
        {
          key: 'upload',
          command: '[ $WORKRON_ATTEMPT -ge 3 ] && sleep 0.4',
          backoff: { type: 'fixed', base: '300ms' },
          depends_on: ['list'],
        },
        { key: 'index', command: 'sleep 0.4', depends_on: ['resize', 'upload'] },
      ],
    });
    await waitForWorkflow(client, id);
    last = id;
  }
  return last;
}

/** Jobs that run while the screenshots are taken. */
async function busy(client: Client): Promise<void> {
  await client.submitAll([
    { name: 'transcode-video', queue: 'images', command: 'sleep 120', tags: ['4k'] },
    { name: 'rebuild-search-index', queue: 'imports', command: 'sleep 120' },
    ...Array.from({ length: 6 }, () => ({ name: 'resize-image', queue: 'images', command: 'sleep 120' })),
  ]);
}
