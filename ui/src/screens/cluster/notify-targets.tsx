import { useQuery } from '@tanstack/react-query';
import type { NotifyTargetView } from '../../../../src/api/notify.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { Listing } from '../../parts/listing.tsx';
import { May } from '../../parts/may.tsx';
import { Problem } from '../../parts/notes.tsx';

/** What people call the services. */
const NAMES: Record<NotifyTargetView['service'], string> = {
  webhook: 'Webhook',
  slack: 'Slack',
  discord: 'Discord',
  'google-chat': 'Google Chat',
  teams: 'Microsoft Teams',
  pagerduty: 'PagerDuty',
  command: 'Command',
};

/** Who is notified about everything. Addresses and commands may be secrets, and are not shown. */
export function NotifyTargets() {
  const targets = useQuery({
    queryKey: ['notify'],
    queryFn: ({ signal }) => Array.fromAsync(client.listNotifyTargets({ signal })),
  });
  const test = useAction({
    run: async ({ place }: NotifyTargetView) => {
      const { items } = await client.testNotify({ installation: place });
      const job = await client.waitJob(items[0]?.job_id ?? '', { timeout: '30s' });
      if (job.status === 'done') return job;
      const why = job.error?.split('\n', 1)[0] ?? `job ${job.id} is ${job.status}`;
      throw new Error(`The test message was not delivered: ${why}`);
    },
    done: (_, { service }) => `${NAMES[service]} got the test message`,
  });
  if (targets.error !== null) return <Problem error={targets.error} onRetry={() => void targets.refetch()} />;
  if (targets.data === undefined) return null;
  return (
    <>
      <h2>Notifications</h2>
      {targets.data.length === 0 ? (
        <p className="muted">
          No installation-wide notifications are set. The setting <code>notify</code> adds targets.
        </p>
      ) : (
        <Listing title="Targets of notifications" columns={['Target', 'Events', 'Test']}>
          {targets.data.map((target) => (
            <tr key={target.place}>
              <th scope="row">
                {target.place}. {NAMES[target.service]}
              </th>
              <td data-label="Events">{target.on.join(', ')}</td>
              <td className="row-actions">
                <May scope="operate">
                  <button type="button" disabled={test.running} onClick={() => test.run(target)}>
                    Send a test
                  </button>
                </May>
              </td>
            </tr>
          ))}
        </Listing>
      )}
    </>
  );
}
