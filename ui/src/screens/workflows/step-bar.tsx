import type { Workflow } from '../../../../src/api/workflow/workflow.ts';

/** The progress of a workflow by the states of its steps. */
export function StepBar({ counts }: { counts: Workflow['step_counts'] }) {
  const { total, fine, failed, cancelled, open } = counts;
  const parts: [string, number, string][] = [
    ['green', fine, 'fine'],
    ['red', failed, 'failed'],
    ['violet', cancelled, 'cancelled'],
    ['open', open, 'open'],
  ];
  const words = parts.filter(([, count]) => count > 0).map(([, count, word]) => `${count} ${word}`);
  return (
    <span className="step-bar-line">
      <span className="step-bar" role="img" aria-label={`${total} steps: ${words.join(', ')}`}>
        {parts.map(([tone, count]) => (
          <span key={tone} className={`step-part fill-${tone}`} style={{ flexGrow: count }} />
        ))}
      </span>
      <span className="faint" aria-hidden="true">
        {total - open}/{total}
      </span>
    </span>
  );
}
