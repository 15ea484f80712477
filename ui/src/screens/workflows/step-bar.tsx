import type { Workflow } from '../../../../src/api/workflow/workflow.ts';

interface StepBarProps {
  counts: Workflow['step_counts'];
  /** How many of the fine steps were skipped; `null` if that is not known. */
  skipped: number | null;
}

/** The progress of a workflow by the states of its steps. */
export function StepBar({ counts, skipped }: StepBarProps) {
  const { total, fine, failed, cancelled, open } = counts;
  const done = fine - (skipped ?? 0);
  const parts: [string, number, string][] = [
    ['green', done, skipped === null ? 'done or skipped' : 'done'],
    ['red', failed, 'failed'],
    ['violet', cancelled, 'cancelled'],
    ['skipped', skipped ?? 0, 'skipped'],
    ['open', open, 'unfinished'],
  ];
  const words = parts.filter(([, count]) => count > 0).map(([, count, word]) => `${count} ${word}`);
  return (
    <span className="step-bar-line">
      <span
        className="step-bar"
        role="img"
        aria-label={`${total} ${total === 1 ? 'step' : 'steps'}: ${words.join(', ')}`}
        title={words.join(', ')}
      >
        {parts.map(([tone, count]) => (
          <span key={tone} className={`step-part fill-${tone}`} style={{ flexGrow: count }} />
        ))}
      </span>
      <span className="faint" aria-hidden="true">
        {done}/{total}
      </span>
    </span>
  );
}
