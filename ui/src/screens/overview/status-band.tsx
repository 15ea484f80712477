import { Link } from 'wouter';
import type { Queue } from '../../../../src/api/queue.ts';
import { RECENT, type Worry, worriesOf } from '../../../../src/api/words/worries.ts';
import type { Worker } from '../../../../src/api/worker.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { useNow } from '../../data/use-now.ts';
import { useWaits } from '../../data/use-waits.ts';
import { shortSpan } from '../../words/duration.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { useDayTimeline } from './use-day-timeline.ts';
import { useFailures } from './use-failures.ts';

interface StatusBandProps {
  queues: readonly Queue[];
  workers: readonly Worker[];
}

/** Whether everything is fine; if not, one linked sentence per worry. */
export function StatusBand({ queues, workers }: StatusBandProps) {
  const now = useNow();
  const failures = useFailures();
  const timeline = useDayTimeline();
  const schedules = (timeline.data?.schedules ?? []).map(({ schedule }) => schedule);
  const recent = useLive({
    key: ['stats', 'recent'],
    about: { topics: ['jobs'], restMs: 2_000 },
    everyMs: 60_000,
    fetch: (signal) => client.readStats({ from: RECENT, step: RECENT, signal }),
  });
  const waits = useWaits(queues, now);
  const seen = { queues, workers, schedules, recent: recent.data, failures: failures.data, waits };
  const worries = worriesOf({ ...seen, now, span: shortSpan });
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
        <bdi>{visibleLine(text)}</bdi>
      </Link>
    </li>
  );
}
