import { Link } from 'wouter';
import type { Schedule } from '../../../../src/api/schedule.ts';
import { allSchedules } from '../../data/all-schedules.ts';
import { useLive } from '../../data/use-live.ts';
import { When } from '../../parts/when.tsx';
import { countText } from '../../words/count.ts';
import { whatItRuns } from '../schedules/schedule-words.ts';

const MAX_SHOWN = 10;

/** The next ticks of all schedules. */
export function NextTicks() {
  const schedules = useLive({
    key: ['schedules'],
    about: { topics: ['jobs'], restMs: 3_000 },
    everyMs: 10_000,
    fetch: allSchedules,
  });
  const { data } = schedules;
  const next = soonest(data?.items ?? []);
  const paused = (data?.items ?? []).filter(({ paused_at }) => paused_at !== null).length;
  return (
    <section className="card" aria-labelledby="next-ticks">
      <header className="card-head">
        <h2 id="next-ticks">Next ticks</h2>
        <Link href="/schedules">all</Link>
      </header>
      {next.length === 0 ? (
        <p className="faint">{nothing(data?.items.length, schedules.error)}</p>
      ) : (
        <ul className="job-list" aria-label="Next ticks">
          {next.map((schedule) => (
            <li key={schedule.name}>
              <Link href={`/schedules/${schedule.name}`} className="job-link" title={whatItRuns(schedule)}>
                <bdi>{schedule.name}</bdi>
              </Link>
              <span className="faint">
                <When at={schedule.next_run} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {next.length > 0 && paused > 0 && (
        <p className="faint small-text">{countText(paused, 'schedule is', 'schedules are')} paused.</p>
      )}
    </section>
  );
}

function soonest(schedules: readonly Schedule[]): Schedule[] {
  return schedules
    .filter(({ next_run }) => next_run !== null)
    .sort((a, b) => Date.parse(a.next_run ?? '') - Date.parse(b.next_run ?? ''))
    .slice(0, MAX_SHOWN);
}

function nothing(schedules: number | undefined, error: Error | null): string {
  if (schedules === undefined) return error === null ? 'Loading…' : 'The schedules could not be fetched.';
  return schedules === 0 ? 'Nothing is scheduled.' : 'No schedule is due: each is paused or over.';
}
