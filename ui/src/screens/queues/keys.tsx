import { useState } from 'react';
import { Link } from 'wouter';
import type { Limit, Rate } from '../../../../src/api/capacity.ts';
import type { Worker } from '../../../../src/api/worker.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { useLive } from '../../data/use-live.ts';
import { ACTIONS, Listing } from '../../parts/listing.tsx';
import { May } from '../../parts/may.tsx';
import { Meter } from '../../parts/meter.tsx';
import { Problem } from '../../parts/notes.tsx';
import { When } from '../../parts/when.tsx';
import { compactText } from '../../words/count.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { KeyDialog } from './key-dialog.tsx';

/** What holds jobs back beside their queue: limits and rates of keys, and reservations at workers. */
export function Keys() {
  const about = { topics: ['queues', 'jobs'] as const, restMs: 1_000 };
  const limits = useLive({ key: ['limits'], about, fetch: (signal) => Array.fromAsync(client.listLimits({ signal })) });
  const rates = useLive({ key: ['rates'], about, fetch: (signal) => Array.fromAsync(client.listRates({ signal })) });
  const workers = useLive({
    key: ['workers'],
    about: { topics: ['workers', 'jobs'], restMs: 1_000 },
    fetch: (signal) => Array.fromAsync(client.listWorkers({ signal })),
  });
  const [edited, setEdited] = useState<Limit | 'new' | null>(null);
  const error = limits.error ?? rates.error ?? workers.error;
  const holding = (workers.data ?? []).filter(({ reserved }) => reserved !== null);
  return (
    <section className="stack" aria-labelledby="keys">
      <header className="card-head">
        <h2 id="keys">Keyed limits</h2>
        <May scope="operate">
          <button type="button" className="small" onClick={() => setEdited('new')}>
            Set limit…
          </button>
        </May>
      </header>
      {error !== null && <Problem error={error} onRetry={() => void limits.refetch()} />}
      {limits.data?.length === 0 && rates.data?.length === 0 && <p className="faint">No keyed limits.</p>}
      {(limits.data ?? []).length > 0 && <LimitTable limits={limits.data ?? []} onEdit={setEdited} />}
      {(rates.data ?? []).length > 0 && <RateTable rates={rates.data ?? []} />}
      {holding.length > 0 && <Reservations workers={holding} />}
      {edited !== null && <KeyDialog limit={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />}
    </section>
  );
}

function LimitTable({ limits, onEdit }: { limits: readonly Limit[]; onEdit: (limit: Limit) => void }) {
  return (
    <Listing
      title="Limits"
      columns={['Limit', 'Running', { title: 'Waiting', num: true }, ACTIONS]}
      className="table-dense"
    >
      {limits.map((limit) => (
        <tr key={limit.key}>
          <KeyCell text={limit.key} />
          <td data-label="Running">
            <Running limit={limit} />
          </td>
          <td className="num" data-label="Waiting">
            {compactText(limit.waiting)}
          </td>
          <LimitActions limit={limit} onEdit={() => onEdit(limit)} />
        </tr>
      ))}
    </Listing>
  );
}

function KeyCell({ text }: { text: string }) {
  return (
    <th scope="row">
      <bdi>{visibleLine(text)}</bdi>
    </th>
  );
}

function Running({ limit: { key, running, max } }: { limit: Limit }) {
  return (
    <span className="with-meter">
      {compactText(running)}
      {max === null ? (
        <span className="faint">each job has its own limit</span>
      ) : (
        <>
          <span className="faint">of {max}, set for all jobs</span>
          <Meter value={running} of={max} label={`Running with key ${key}`} />
        </>
      )}
    </span>
  );
}

function LimitActions({ limit, onEdit }: { limit: Limit; onEdit: () => void }) {
  const clear = useAction({
    run: () => client.deleteLimit(limit.key),
    done: ({ key }) => `The limit of each job with key ${key} counts again`,
  });
  return (
    <td className="row-actions">
      <May scope="operate">
        <button type="button" className="small" onClick={onEdit}>
          Set…<span className="visually-hidden"> {limit.key}</span>
        </button>
        {limit.max !== null && (
          <button type="button" className="small" disabled={clear.running} onClick={() => clear.run()}>
            Clear<span className="visually-hidden"> {limit.key}</span>
          </button>
        )}
      </May>
    </td>
  );
}

function RateTable({ rates }: { rates: readonly Rate[] }) {
  return (
    <Listing
      title="Rates"
      columns={[
        'Rate',
        { title: 'Started in this period', num: true },
        'Closed until',
        { title: 'Waiting', num: true },
      ]}
      className="table-dense"
    >
      {rates.map(({ key, started, opens_at, waiting }) => (
        <tr key={key}>
          <KeyCell text={key} />
          <td className="num" data-label="Started in this period">
            {compactText(started)}
          </td>
          <td data-label="Closed until">{opens_at === null ? '–' : <When at={opens_at} />}</td>
          <td className="num" data-label="Waiting">
            {compactText(waiting)}
          </td>
        </tr>
      ))}
    </Listing>
  );
}

/** Jobs for which workers hold what becomes free. */
function Reservations({ workers }: { workers: readonly Worker[] }) {
  return (
    <>
      <h2>Reservations</h2>
      <ul className="stack">
        {workers.map(({ id, name, reserved }) => (
          <li key={id}>
            <bdi>{visibleLine(name)}</bdi> holds{' '}
            {Object.entries(reserved?.resources ?? {})
              .map(([resource, amount]) => `${amount} ${visibleLine(resource)}`)
              .join(', ')}{' '}
            for <Link href={`/jobs/${reserved?.job_id}`}>job {reserved?.job_id}</Link>
            {reserved?.starts_at != null && (
              <>
                ; expected start: <When at={reserved.starts_at} />
              </>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
