import { Link } from 'wouter';
import type { StepState, WorkflowDetail } from '../../../../src/api/workflow/workflow.ts';
import { useNow } from '../../data/use-now.ts';
import { State } from '../../parts/state.tsx';
import { durationText } from '../../words/duration.ts';
import { STATE_TONES } from '../../words/state.ts';

interface Bar {
  step: StepState;
  /** When the step could have run, started and ended. */
  free: number | null;
  start: number | null;
  end: number | null;
}

/** When each step waited for a slot (hatched) and ran; the critical path is outlined. */
export function Gantt({ workflow }: { workflow: WorkflowDetail }) {
  const now = useNow();
  const bars = barsOf(workflow, now);
  const from = Date.parse(workflow.created_at);
  const to = Math.max(from + 1, ...bars.map(({ end }) => end ?? from));
  const share = (ms: number): string => `${(Math.max(0, ms) / (to - from)) * 100}%`;
  const critical = new Set(workflow.critical_path);
  return (
    <div className="gantt">
      <div className="gantt-axis" aria-hidden="true">
        {[0, 0.25, 0.5, 0.75, 1].map((part) => (
          <span key={part}>{durationText((to - from) * part)}</span>
        ))}
      </div>
      <ol>
        {bars.map(({ step, free, start, end }) => (
          <li key={step.key} className={critical.has(step.key) ? 'gantt-row gantt-critical' : 'gantt-row'}>
            <span className="gantt-name">
              <State of={step.status} quiet />
              <Link href={`/jobs/${step.job_id}`}>{step.key}</Link>
            </span>
            <span className="gantt-track">
              {free !== null && start !== null && start > free && (
                <span className="gantt-wait" style={{ left: share(free - from), width: share(start - free) }} />
              )}
              {start !== null && end !== null && (
                <span
                  className={`gantt-bar fill-${STATE_TONES[step.status] ?? 'grey'}`}
                  style={{ left: share(start - from), width: share(end - start) }}
                />
              )}
            </span>
            <span className="gantt-words">{words({ step, free, start, end })}</span>
          </li>
        ))}
      </ol>
      <p className="faint small-text">
        {critical.size > 0 && `Critical path: ${workflow.critical_path.join(' → ')}. `}Hatched: free to run, waiting for
        a slot.
      </p>
    </div>
  );
}

function words({ free, start, end }: Bar): string {
  if (start === null || end === null) return '';
  const waited = free !== null && start - free >= 1 ? `waited ${durationText(start - free)}, ` : '';
  return `${waited}ran ${durationText(end - start)}`;
}

function barsOf(workflow: WorkflowDetail, now: number): Bar[] {
  const ends = new Map(
    workflow.steps.map((step) => [step.key, step.done_at === null ? null : Date.parse(step.done_at)]),
  );
  return workflow.steps.map((step) => {
    const parents = step.depends_on.map((key) => ends.get(key) ?? null);
    const free = parents.includes(null)
      ? null
      : Math.max(Date.parse(step.created_at), ...parents.map((end) => end ?? 0));
    const start = step.started_at === null ? null : Date.parse(step.started_at);
    const end = step.done_at === null ? (start === null ? null : Math.max(now, start)) : Date.parse(step.done_at);
    return { step, free, start, end };
  });
}
