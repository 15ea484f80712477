import { Link } from 'wouter';
import type { StepState, WorkflowDetail } from '../../../../src/api/workflow/workflow.ts';
import { ACTIONS, Listing } from '../../parts/listing.tsx';
import { State } from '../../parts/state.tsx';
import { Took } from '../../parts/when.tsx';
import { countText } from '../../words/count.ts';
import { hasEnded } from '../../words/state.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { RerunButton } from './rerun-button.tsx';

/** The steps in the order in which they can run: the graph for keyboards and screen readers. */
export function StepList({ workflow, onRerun }: { workflow: WorkflowDetail; onRerun: (key: string) => void }) {
  const critical = new Set(workflow.critical_path);
  return (
    <Listing title="Steps" columns={['State', 'Step', 'After', 'Took', 'Result', ACTIONS]}>
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
            <Took of={step} />
          </td>
          <td className="clip">{howItWent(step)}</td>
          <td className="row-actions">
            {hasEnded(workflow.status) && <RerunButton step={step.key} workflow={workflow} onRerun={onRerun} />}
          </td>
        </tr>
      ))}
    </Listing>
  );
}

export function howItWent(step: StepState): string {
  const tolerated = step.status === 'failed' && step.continue_on_failure;
  return [resultOf(step), tolerated ? 'counts as success' : ''].filter(Boolean).join(' · ');
}

function resultOf(step: StepState): string {
  if (step.group !== null) {
    const { total, open, failed } = step.group;
    return `${total === null ? '? items' : countText(total, 'item')}${open > 0 ? `, ${open} open` : ''}${failed > 0 ? `, ${failed} failed` : ''}`;
  }
  if (step.error !== null && step.status !== 'done') return visibleLine(step.error.trim().split('\n', 1)[0] ?? '');
  if (step.reason !== null) return step.reason.replace('_', ' ');
  return step.attempts > 1 ? `attempt ${step.attempts}` : '';
}
