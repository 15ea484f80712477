import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { ListedWorkflow } from '../../../../src/api/workflow/workflow.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { Listing } from '../../parts/listing.tsx';
import { May } from '../../parts/may.tsx';
import { Empty, Loading, Problem } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { State } from '../../parts/state.tsx';
import { Elapsed, When } from '../../parts/when.tsx';
import { SAMPLE_WORKFLOW } from '../../words/as-command.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { DefinitionList } from '../definitions/definition-list.tsx';
import { NewWorkflow } from './new-workflow.tsx';
import { StepBar } from './step-bar.tsx';

const STATUSES = ['pending', 'running', 'done', 'failed', 'cancelled'] as const;

/** Workflows, newest first. */
export function Workflows() {
  useTitle('Workflows');
  const [search, setSearch] = useSearchParams();
  const [making, setMaking] = useState(false);
  const status = STATUSES.find((each) => each === search.get('status'));
  const name = search.get('name') ?? undefined;
  const cursor = search.get('cursor') ?? undefined;
  const list = useLive({
    key: ['workflows', status, name, cursor],
    about: { topics: ['jobs'] },
    keep: true,
    fetch: (signal) =>
      client.listWorkflows(
        { limit: 50, ...(status && { status }), ...(name && { name }), ...(cursor && { cursor }) },
        { signal },
      ),
  });
  const choose = (next: string | null): void => setSearch(next === null ? {} : { status: next }, { replace: true });
  const narrowed = status !== undefined || name !== undefined;
  return (
    <section className="screen">
      <PageHead title="Workflows">
        <May scope="submit">
          <button type="button" className="primary" onClick={() => setMaking(true)}>
            Run a workflow
          </button>
        </May>
      </PageHead>
      {making && <NewWorkflow onClose={() => setMaking(false)} />}
      <DefinitionList />
      <h2>Runs</h2>
      <WorkflowFilter status={status} name={name} onChoose={choose} />
      {list.error !== null && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {list.data === undefined ? (
        list.error === null && <Loading />
      ) : list.data.items.length === 0 ? (
        <Empty title={narrowed ? 'No workflow matches' : 'No workflows yet'}>
          {!narrowed && <CopyLine label="Run one from the terminal" text={SAMPLE_WORKFLOW} />}
        </Empty>
      ) : (
        <>
          <WorkflowTable workflows={list.data.items} />
          {list.data.next_cursor !== null && (
            <button
              type="button"
              onClick={() =>
                setSearch((before) => ({ ...Object.fromEntries(before), cursor: list.data?.next_cursor ?? '' }))
              }
            >
              Older →
            </button>
          )}
        </>
      )}
    </section>
  );
}

interface WorkflowFilterProps {
  status: string | undefined;
  name: string | undefined;
  /** Shows the workflows with this status only; `null` shows all. Any filter by name is removed. */
  onChoose: (status: string | null) => void;
}

function WorkflowFilter({ status, name, onChoose }: WorkflowFilterProps) {
  return (
    <div className="state-filter" role="group" aria-label="States">
      {STATUSES.map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === status}
          onClick={() => onChoose(each === status ? null : each)}
        >
          <State of={each} />
        </button>
      ))}
      {name !== undefined && (
        <button
          type="button"
          className="chip"
          onClick={() => onChoose(status ?? null)}
          aria-label={`Remove filter name ${name}`}
        >
          name: <bdi>{visibleLine(name)}</bdi> <span aria-hidden="true">×</span>
        </button>
      )}
    </div>
  );
}

function WorkflowTable({ workflows }: { workflows: readonly ListedWorkflow[] }) {
  return (
    <Listing title="Workflows" columns={['State', 'Workflow', 'Steps', 'Took', 'Submitted']}>
      {workflows.map((workflow) => (
        <tr key={workflow.id}>
          <td>
            <State of={workflow.status} />
          </td>
          <th scope="row">
            <Link href={`/workflows/${workflow.id}`}>
              <bdi>{visibleLine(workflow.name)}</bdi>
            </Link>{' '}
            <span className="faint">#{workflow.id}</span>
            {workflow.rerun_of !== null && <span className="faint"> rerun of #{workflow.rerun_of}</span>}
          </th>
          <td data-label="Steps">
            <StepBar counts={workflow.step_counts} skipped={workflow.skipped_steps} />
          </td>
          <td data-label="Took">
            <Elapsed from={workflow.started_at} to={workflow.ended_at} />
          </td>
          <td data-label="Submitted">
            <When at={workflow.created_at} />
          </td>
        </tr>
      ))}
    </Listing>
  );
}
