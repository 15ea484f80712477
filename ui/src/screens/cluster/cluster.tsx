import type { Cluster as ClusterState } from '../../../../src/api/cluster.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { Listing } from '../../parts/listing.tsx';
import { May } from '../../parts/may.tsx';
import { Loading, Problem } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { State } from '../../parts/state.tsx';
import { When } from '../../parts/when.tsx';
import { offlineLast } from '../../words/state.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { Doctor } from './doctor.tsx';
import { NotifyTargets } from './notify-targets.tsx';

const EVERY_MS = 2_000;

/** The instances on this store and the leader of each duty. */
export function Cluster() {
  useTitle('Cluster');
  const cluster = useLive({
    key: ['cluster'],
    about: { topics: ['workers'] },
    // Leadership is renewed every two seconds.
    everyMs: EVERY_MS,
    fetch: (signal) => client.readCluster({ signal }),
  });
  return (
    <section className="screen">
      <PageHead
        title="Cluster"
        sub={
          cluster.data !== undefined && (
            <span className="faint">
              {cluster.data.driver} {visibleLine(cluster.data.location)}, answered by {cluster.data.answered_by}
            </span>
          )
        }
      />
      {cluster.error !== null && <Problem error={cluster.error} onRetry={() => void cluster.refetch()} />}
      {cluster.data === undefined ? (
        cluster.error === null && <Loading />
      ) : (
        <>
          <Instances instances={cluster.data.instances} />
          {(cluster.data.instances.filter(({ state }) => state === 'online').length > 1 ||
            cluster.data.duties.some(({ leader }) => leader === null)) && <Duties duties={cluster.data.duties} />}
          <NotifyTargets />
          <May scope="admin">
            <Doctor />
          </May>
        </>
      )}
    </section>
  );
}

function Instances({ instances }: { instances: ClusterState['instances'] }) {
  return (
    <Listing title="Instances" columns={['State', 'Instance', 'Roles', 'Leads', 'Version', 'Up since', 'Last seen']}>
      {offlineLast(instances).map((instance) => (
        <tr key={instance.id}>
          <td>
            <State of={instance.state} />
          </td>
          <th scope="row">
            <bdi>{visibleLine(instance.id)}</bdi>
            <div className="faint small-text">
              {visibleLine(instance.host)} · pid {instance.pid}
              {instance.url !== null && ` · ${visibleLine(instance.url)}`}
            </div>
          </th>
          <td data-label="Roles">{instance.roles.join(', ')}</td>
          <td data-label="Leads">{instance.leads.join(', ') || <span className="faint">nothing</span>}</td>
          <td data-label="Version">{instance.version}</td>
          <td data-label="Up since">
            <When at={instance.started_at} />
          </td>
          <td data-label="Last seen">
            <When at={instance.seen_at} />
          </td>
        </tr>
      ))}
    </Listing>
  );
}

function Duties({ duties }: { duties: ClusterState['duties'] }) {
  return (
    <Listing title="Duties" columns={['Duty', 'Leader', 'Term', 'Held by', 'Lock key']}>
      {duties.map((duty) => (
        <tr key={duty.duty}>
          <th scope="row">{duty.duty}</th>
          <td data-label="Leader">
            {duty.leader === null ? <span className="why-bad">nobody</span> : visibleLine(duty.leader)}
          </td>
          <td data-label="Term">{duty.term}</td>
          <td data-label="Held by">{duty.held_by ?? <span className="faint">–</span>}</td>
          <td className="faint" data-label="Lock key">
            {duty.lock_key === null ? '–' : duty.lock_key.join(', ')}
          </td>
        </tr>
      ))}
    </Listing>
  );
}
