import { useState } from 'react';
import { Link } from 'wouter';
import type { Definition } from '../../../../src/api/workflow/stored.ts';
import { listDefinitions, readDefinition } from '../../data/definitions.ts';
import { useLive } from '../../data/use-live.ts';
import { ACTIONS, Listing } from '../../parts/listing.tsx';
import { May } from '../../parts/may.tsx';
import { countText } from '../../words/count.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { RunDialog } from './run-dialog.tsx';
import { RunHistory, RunRate } from './run-history.tsx';

const SHOWN_RUNS = 20;

/** The stored workflows, each with its recent runs and a button that runs it. */
export function DefinitionList() {
  const [run, setRun] = useState<Definition | null>(null);
  const list = useLive({
    key: ['definitions'],
    about: { topics: [] },
    everyMs: 15_000,
    fetch: listDefinitions,
  });
  const items = list.data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <section className="stack" aria-labelledby="definitions">
      <h2 id="definitions">Stored workflows</h2>
      <Listing title="Stored workflows" columns={['Workflow', 'Recent runs', 'Outcome', ACTIONS]}>
        {items.map((definition) => (
          <Row key={definition.name} definition={definition} onRun={() => setRun(definition)} />
        ))}
      </Listing>
      {run !== null && <RunDialog definition={run} onClose={() => setRun(null)} />}
    </section>
  );
}

function Row({ definition, onRun }: { definition: Definition; onRun: () => void }) {
  const { name, version, steps, description, queues } = definition;
  const detail = useLive({
    key: ['definition', name],
    about: { topics: ['jobs'], restMs: 3_000 },
    fetch: (signal) => readDefinition(name, signal),
  });
  const recent = detail.data?.recent;
  return (
    <tr>
      <th scope="row">
        <Link href={`/definitions/${name}`}>{name}</Link>{' '}
        <span className="faint">
          v{version}, {countText(steps.length, 'step')}
        </span>
        {description !== null && <div className="faint small-text clip">{visibleLine(description)}</div>}
      </th>
      <td data-label="Recent runs">
        {recent !== undefined && <RunHistory name={name} runs={recent.runs.slice(0, SHOWN_RUNS)} />}
      </td>
      <td data-label="Outcome">{recent !== undefined && <RunRate recent={recent} />}</td>
      <td className="row-actions">
        <May scope="submit" queue={queues}>
          <button type="button" className="small" onClick={onRun}>
            Run…<span className="visually-hidden"> {name}</span>
          </button>
        </May>
      </td>
    </tr>
  );
}
