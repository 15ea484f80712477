import { Link } from 'wouter';
import type { StepState, WorkflowDetail } from '../../../../src/api/workflow/workflow.ts';
import { May } from '../../parts/may.tsx';
import { State } from '../../parts/state.tsx';
import { Elapsed } from '../../parts/when.tsx';
import { hasEnded } from '../../words/state.ts';
import { visibleLine } from '../../words/visible-text.ts';

/** The steps in the order in which they can run: the graph for keyboards and screen readers. */
export function StepList({ workflow, onRerun }: { workflow: WorkflowDetail; onRerun: (key: string) => void }) {
  const critical = new Set(workflow.critical_path);
  return (
    <div className="table-frame">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Step</th>
            <th scope="col">After</th>
            <th scope="col">Took</th>
            <th scope="col">How it went</th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {workflow.steps.map((step) => (
            <tr key={step.key}>
              <td>
                <State of={step.status} />
              </td>
              <th scope="row">
                <Link href={`/jobs/${step.job_id}`}>{step.key}</Link>
                {critical.has(step.key) && (
                  <span className="badge" title="It decided how long the workflow took">
                    critical
                  </span>
                )}
              </th>
              {step.depends_on.length === 0 ? (
                <td />
              ) : (
                <td className="faint" data-label="After">
                  {step.depends_on.join(', ')}
                </td>
              )}
              <td data-label="Took">
                <Elapsed
                  from={step.started_at}
                  to={step.status === 'running' ? null : (step.done_at ?? step.started_at)}
                />
              </td>
              <td className="clip">{howItWent(step)}</td>
              <td className="row-actions">
                {hasEnded(workflow.status) && <RerunButton step={step.key} onRerun={onRerun} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RerunButton({ step, onRerun }: { step: string; onRerun: (key: string) => void }) {
  return (
    <May scope="submit">
      <button type="button" className="small" onClick={() => onRerun(step)}>
        Rerun from here<span className="visually-hidden"> {step}</span>
      </button>
    </May>
  );
}

export function howItWent(step: StepState): string {
  const tolerated = step.status === 'failed' && step.continue_on_failure;
  return [resultOf(step), tolerated ? 'counts as success' : ''].filter(Boolean).join(' · ');
}

function resultOf(step: StepState): string {
  if (step.group !== null) {
    const { total, open, failed } = step.group;
    return `${total ?? '?'} items${open > 0 ? `, ${open} open` : ''}${failed > 0 ? `, ${failed} failed` : ''}`;
  }
  if (step.error !== null && step.status !== 'done') return visibleLine(step.error.trim().split('\n', 1)[0] ?? '');
  if (step.reason !== null) return step.reason.replace('_', ' ');
  return step.attempts > 1 ? `attempt ${step.attempts}` : '';
}
