import { Link } from 'wouter';
import type { Queue } from '../../../../src/api/queue.ts';
import type { Stats } from '../../../../src/api/stats.ts';
import type { Worker } from '../../../../src/api/worker.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { useNow } from '../../data/use-now.ts';
import { useDayTimeline } from './use-day-timeline.ts';
import { useFailures } from './use-failures.ts';
import { LATE_MS, type Worry, worriesOf } from './worries.ts';

interface StatusBandProps {
  queues: readonly Queue[];
  workers: readonly Worker[];
  day: Stats | undefined;
}

/** Whether everything is fine; if not, one linked sentence per worry. */
export function StatusBand({ queues, workers, day }: StatusBandProps) {
  const now = useNow();
  const failures = useFailures();
  const timeline = useDayTimeline();
  const schedules = (timeline.data?.schedules ?? []).map(({ schedule }) => schedule);
  const stuck = useStuck(queues, now);
  const worries = worriesOf({ queues, workers, day, schedules, failures: failures.data, stuck, now });
  const tone = worries.length === 0 ? 'green' : worries.some((worry) => worry.tone === 'red') ? 'red' : 'amber';
  return (
    <section className={`status-band band-${tone}`} aria-label="Status" role="status">
      <span className="band-icon" aria-hidden="true">
        {tone === 'green' ? '✓' : tone === 'amber' ? '!' : '✗'}
      </span>
      {worries.length === 0 ? (
        <p>Everything is running as it should.</p>
      ) : (
        <ul>
          {worries.map((worry) => (
            <WorryLine key={worry.text} worry={worry} />
          ))}
        </ul>
      )}
    </section>
  );
}

function WorryLine({ worry: { tone, text, href } }: { worry: Worry }) {
  return (
    <li className={`worry worry-${tone}`}>
      <Link href={href}>
        <bdi>{text}</bdi>
      </Link>
    </li>
  );
}

/** The oldest pending jobs, if a queue waits for long: they say what is missing. */
function useStuck(queues: readonly Queue[], now: number) {
  const late = queues.some(
    ({ paused, oldest_pending_at }) =>
      !paused && oldest_pending_at !== null && now - Date.parse(oldest_pending_at) > LATE_MS,
  );
  const stuck = useLive({
    key: ['jobs', 'stuck'],
    enabled: late,
    about: { topics: ['queues'], restMs: 5_000 },
    fetch: (signal) => client.jobs({ status: 'pending', limit: 200 }, { signal }),
  });
  return late ? (stuck.data?.items ?? []).toReversed() : [];
}
