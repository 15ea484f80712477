/** Gangs on the page, in a real browser. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Dashboard, openDashboard } from '../kit/dashboard.ts';

let dashboard: Dashboard;
before(async () => {
  dashboard = await openDashboard({ args: ['--workers', '4'] });
});
after(() => dashboard[Symbol.asyncDispose]());

test('gang: a member shows the others with rank, worker and state, and leads to them; the list shows the gang', async () => {
  const { client } = dashboard;
  // The first member succeeds, and waits for the second.
  const command = 'if [ $WORKRON_GANG_RANK = 1 ]; then sleep 600; fi';
  const [first, second] = await client.submitAll([{ command, gang: { size: 2 } }]);
  assert.ok(first && second);
  await using screen = await dashboard.open(`/ui/jobs/${first.id}`);
  const { page } = screen;
  const gang = page.getByRole('region', { name: 'Gang' });
  await gang.getByText('Rank 0 of a gang of 2').waitFor();
  await gang.getByRole('row', { name: new RegExp(`^0 job ${first.id} .*blocked`) }).waitFor();
  await gang.getByRole('row', { name: new RegExp(`^1 job ${second.id} .*running .+ 1 0$`) }).waitFor();
  await page.getByText(/1 of 2 members have succeeded/).waitFor();
  await gang.getByRole('link', { name: `job ${second.id}` }).click();
  await gang.getByText('Rank 1 of a gang of 2').waitFor();
  await gang.getByRole('link', { name: 'All members' }).click();
  await page.getByRole('link', { name: 'gang 2/2' }).waitFor();
  await page.getByRole('link', { name: 'gang 1/2' }).waitFor();
  await client.cancelJob(second.id);
  await page.goto(`${dashboard.url}/ui/jobs/${first.id}`);
  await gang.getByRole('row', { name: new RegExp(`^1 job ${second.id} .*cancelled`) }).waitFor();
  await gang.getByRole('row', { name: new RegExp(`^0 job ${first.id} .*cancelled`) }).waitFor();
});
