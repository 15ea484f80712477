/** Accessibility of every screen, dark and light, wide, at 320 px and at 200 %: axe-core finds nothing, nothing is cut off. */

import { after, before, test } from 'node:test';
import { effort } from '../effort.ts';
import { assertAccessible, assertFits } from '../kit/access.ts';
import { type Dashboard, openDashboard } from '../kit/dashboard.ts';
import { type Seeded, seedPage } from '../kit/page-seed.ts';

let dashboard: Dashboard;
let seeded: Seeded;

before(async () => {
  dashboard = await openDashboard();
});
after(() => dashboard[Symbol.asyncDispose]());

/** The path of each screen, and a selector that matches once it is complete. */
function screens(): [path: string, ready: string][] {
  return [
    ['/ui/', '.chart-key'],
    ['/ui/jobs', '.job-row[data-job]'],
    ['/ui/jobs?status=failed&q=nothing-has-this', '.empty-title'],
    [`/ui/jobs/${seeded.orderJob}`, '.log-line'],
    [`/ui/jobs/${seeded.failedJob}?tab=attempts`, '.attempts li'],
    [`/ui/jobs/${seeded.failedJob}?tab=timeline`, '.timeline li'],
    [`/ui/jobs/${seeded.failedJob}?tab=details`, '.json'],
    [`/ui/jobs/${seeded.failedJob}?tab=related`, '.details-grid .card'],
    ['/ui/workflows', 'tbody tr'],
    [`/ui/workflows/${seeded.failedWorkflow}`, '.node'],
    [`/ui/workflows/${seeded.doneWorkflow}?view=gantt`, '.gantt-row'],
    [`/ui/workflows/${seeded.doneWorkflow}?view=list`, 'tbody tr'],
    ['/ui/jobs?by=name', '.name-table .cell'],
    ['/ui/schedules', '.cell'],
    ['/ui/schedules?view=month', '.calendar-entry'],
    ['/ui/schedules/nightly-backup', '.ledger li'],
    ['/ui/schedules/weekly-invoices', '.preview li'],
    ['/ui/queues', 'tbody tr'],
    ['/ui/workers', 'article'],
    ['/ui/cluster', 'tbody tr'],
    ['/ui/nowhere', '.empty-title'],
  ];
}

test('access: an empty installation is accessible', async () => {
  await using screen = await dashboard.open('/ui/');
  await screen.page.getByRole('heading', { name: 'Welcome' }).waitFor();
  await assertAccessible(screen.page, 'welcome');
  seeded = await seedPage(dashboard.url);
});

interface Look {
  colorScheme: 'light' | 'dark';
  /** In CSS pixels. */
  width: number;
  /** 2 means a window of 1,280 pixels at 200 %. */
  zoom: number;
  /** Whether axe-core checks it, too; else only that everything fits. */
  axe: boolean;
}

const WIDTHS = [
  { width: 1280, zoom: 1 },
  { width: 640, zoom: 2 },
  { width: 320, zoom: 1 },
];

/** Each colour and each width once; with full effort, every combination. */
const LOOKS: Look[] = effort.full
  ? (['light', 'dark'] as const).flatMap((colorScheme) => WIDTHS.map((size) => ({ colorScheme, ...size, axe: true })))
  : [
      { colorScheme: 'light', width: 1280, zoom: 1, axe: true },
      { colorScheme: 'light', width: 640, zoom: 2, axe: false },
      { colorScheme: 'dark', width: 320, zoom: 1, axe: true },
    ];

for (const { colorScheme, width, zoom, axe } of LOOKS) {
  test(`access: every screen is accessible, ${colorScheme}, ${width} px wide, zoom ${zoom}`, async () => {
    await using screen = await dashboard.open('/ui/', {
      colorScheme,
      viewport: { width, height: 700 / zoom },
      deviceScaleFactor: zoom,
      reducedMotion: 'reduce',
    });
    for (const [path, ready] of screens()) {
      await screen.page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
      await screen.page.locator(ready).first().waitFor();
      await (axe ? assertAccessible : assertFits)(screen.page, `${path} ${colorScheme} ${width}`);
    }
  });
}

test('access: dialogs are accessible', async () => {
  await using screen = await dashboard.open('/ui/jobs', { colorScheme: 'dark' });
  const { page } = screen;
  await page.locator('.job-row[data-job]').first().waitFor();
  for (const key of ['Control+k', '?', 'n']) {
    await page.keyboard.press(key);
    await page.locator('dialog[open]').waitFor();
    await assertAccessible(page, `dialog of ${key}`);
    await page.keyboard.press('Escape');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
  }
});
