import { Link } from 'wouter';
import type { JobDetail } from '../../../../src/api/job.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { countText } from '../../words/count.ts';
import { STATE_ICONS, STATE_TONES } from '../../words/state.ts';

const MAX_SHOWN = 200;

/** The items of a `for_each` step as a grid, and how many of them failed. */
export function Items({ job }: { job: Pick<JobDetail, 'id' | 'step' | 'index' | 'attempts'> }) {
  const items = useLive({
    key: ['items', job.id],
    // A step that runs a list has no attempt of its own.
    enabled: job.step !== null && job.index === null && job.attempts === 0,
    about: { topics: ['jobs'] },
    fetch: (signal) => client.listJobs({ group_id: job.id, limit: MAX_SHOWN }, { signal }),
  });
  const all = (items.data?.items ?? []).toReversed();
  if (all.length === 0) return null;
  const failed = all.filter(({ status }) => status === 'failed').length;
  const some = items.data?.next_cursor == null ? '' : ' (of the newest 200)';
  return (
    <section className="stack items" aria-label="Items of the step">
      <p className={failed > 0 ? 'why-line why-bad' : 'why-line'}>
        {failed > 0
          ? `${failed} of ${countText(all.length, 'item')} failed${some}.`
          : `${countText(all.length, 'item')}${some}.`}{' '}
        <Link href={`/jobs?group_id=${job.id}`}>All items</Link>
      </p>
      <ol className="item-grid" aria-label="Items">
        {all.map((item) => (
          <li key={item.id}>
            <Link
              href={`/jobs/${item.id}`}
              className={`cell tone-${STATE_TONES[item.status] ?? 'grey'}`}
              data-state={item.status}
              // Too small for a finger: "All items" has the same links, also for the keyboard.
              tabIndex={-1}
              title={`Item ${item.index ?? '?'}: ${item.status}`}
              aria-label={`Item ${item.index ?? '?'}: ${item.status}`}
            >
              <span aria-hidden="true">{STATE_ICONS[item.status]}</span>
            </Link>
          </li>
        ))}
      </ol>
    </section>
  );
}
