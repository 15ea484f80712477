import { useState } from 'react';
import { Link } from 'wouter';
import type { DefinitionDetail } from '../../../../src/api/workflow/stored.ts';
import { readDefinition } from '../../data/definitions.ts';
import { useLive } from '../../data/use-live.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { May } from '../../parts/may.tsx';
import { Empty, Loading, Problem } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { When } from '../../parts/when.tsx';
import { isMissing } from '../../words/message-of.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { RunDialog, runCommand } from './run-dialog.tsx';
import { RunHistory, RunRate } from './run-history.tsx';

/** A stored workflow: its runs, parameters, versions and schedules. */
export function DefinitionScreen({ name }: { name: string }) {
  useTitle(name);
  const [running, setRunning] = useState(false);
  const definition = useLive({
    key: ['definition', name],
    about: { topics: ['jobs'], restMs: 2_000 },
    fetch: (signal) => readDefinition(name, signal),
  });
  const { data } = definition;
  if (isMissing(definition.error)) {
    return (
      <Empty alone title={`There is no stored workflow ${name}`}>
        <Link href="/workflows">All workflows</Link>
      </Empty>
    );
  }
  if (data === undefined) {
    if (definition.error === null) return <Loading />;
    return <Problem error={definition.error} onRetry={() => void definition.refetch()} />;
  }
  return (
    <section className="screen">
      <PageHead title={data.name} sub={<span className="muted">version {data.version}</span>}>
        <May scope="submit" queue={data.queues}>
          <button type="button" className="primary" onClick={() => setRunning(true)}>
            Run…
          </button>
        </May>
      </PageHead>
      {data.description !== null && <p>{visibleLine(data.description)}</p>}
      <section className="card" aria-labelledby="runs">
        <header className="card-head">
          <h2 id="runs">Runs</h2>
          <RunRate recent={data.recent} />
          <span className="spacer" />
          <Link href={`/workflows?name=${encodeURIComponent(name)}`}>All runs</Link>
        </header>
        <RunHistory name={name} runs={data.recent.runs} />
      </section>
      <div className="details-grid">
        <Params params={data.params} />
        <Steps steps={data.steps} />
        <Versions definition={data} />
      </div>
      <CopyLine label="CLI command" text={runCommand(data)} />
      {running && <RunDialog definition={data} onClose={() => setRunning(false)} />}
    </section>
  );
}

function Params({ params }: Pick<DefinitionDetail, 'params'>) {
  return (
    <section className="card">
      <h2>Parameters</h2>
      {params.length === 0 && <p className="faint">None.</p>}
      <dl className="pairs">
        {params.map(({ name, type, required, description, default: initial }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {type}
              {required ? ', required' : initial == null ? '' : `, ${JSON.stringify(initial)} by default`}
              {description !== null && <span className="faint">: {visibleLine(description)}</span>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Steps({ steps }: Pick<DefinitionDetail, 'steps'>) {
  return (
    <section className="card">
      <h2>Steps</h2>
      <ol>
        {steps.map(({ key, depends_on }) => (
          <li key={key}>
            {visibleLine(key)}
            {depends_on.length > 0 && <span className="faint"> after {visibleLine(depends_on.join(', '))}</span>}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Versions({ definition: { versions, schedules } }: { definition: DefinitionDetail }) {
  return (
    <section className="card">
      <h2>Versions</h2>
      <ul>
        {versions.slice(0, 10).map(({ version, created_at }) => (
          <li key={version}>
            {version} <span className="faint">applied</span> <When at={created_at} />
          </li>
        ))}
      </ul>
      {schedules.length > 0 && (
        <p>
          Used by{' '}
          {schedules.map((schedule) => (
            <Link key={schedule} href={`/schedules/${schedule}`} className="chip">
              {schedule}
            </Link>
          ))}
        </p>
      )}
    </section>
  );
}
