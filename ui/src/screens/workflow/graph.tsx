import { useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { StepState, WorkflowDetail } from '../../../../src/api/workflow/workflow.ts';
import { useNow } from '../../data/use-now.ts';
import { durationText } from '../../words/duration.ts';
import { hasEnded, STATE_ICONS, STATE_TONES } from '../../words/state.ts';
import { layOut, NODE_HEIGHT, NODE_WIDTH } from './lay-out.ts';
import { howItWent } from './step-list.tsx';
import { usePanZoom } from './use-pan-zoom.ts';

/** The workflow as a graph that can be moved and zoomed. States change in place. */
export function Graph({ workflow, onRerun }: { workflow: WorkflowDetail; onRerun: (key: string) => void }) {
  // States change, the shape never does: it is laid out once.
  const shape = workflow.steps.map(({ key, depends_on }) => `${key}<${depends_on.join()}`).join(';');
  const laid = useMemo(() => layOut(workflow.steps), [shape]);
  const frame = useRef<HTMLDivElement>(null);
  const { view, zoom, fit, handlers } = usePanZoom(frame, laid);
  const [chosen, setChosen] = useState<string | null>(null);
  const now = useNow();
  const critical = new Set(workflow.critical_path);
  const step = workflow.steps.find(({ key }) => key === chosen);
  return (
    <div className="graph">
      <div className="graph-tools">
        <button type="button" className="small" onClick={() => zoom(1.25)} aria-label="Zoom in">
          +
        </button>
        <button type="button" className="small" onClick={() => zoom(0.8)} aria-label="Zoom out">
          −
        </button>
        <button type="button" className="small" onClick={fit}>
          Fit
        </button>
        {step !== undefined && (
          <ChosenStep step={step} onRerun={hasEnded(workflow.status) ? () => onRerun(step.key) : null} />
        )}
      </div>
      <div ref={frame} className="graph-frame" {...handlers}>
        <svg
          className="graph-svg"
          role="group"
          aria-label={`Graph of ${workflow.steps.length} steps; the list of steps says the same`}
        >
          <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
            {laid.edges.map(({ from, to, path }) => (
              <path
                key={`${from} ${to}`}
                d={path}
                className={critical.has(from) && critical.has(to) ? 'edge edge-critical' : 'edge'}
              />
            ))}
            {workflow.steps.map((each) => (
              <StepNode
                key={each.key}
                step={each}
                place={laid.nodes.get(each.key)}
                critical={critical.has(each.key)}
                chosen={each.key === chosen}
                now={now}
                onChoose={() => setChosen(each.key)}
              />
            ))}
          </g>
        </svg>
      </div>
    </div>
  );
}

interface ChosenStepProps {
  step: StepState;
  /** Null while the workflow has not ended. */
  onRerun: (() => void) | null;
}

function ChosenStep({ step, onRerun }: ChosenStepProps) {
  return (
    <span className="graph-chosen">
      <b>{step.key}</b> {howItWent(step)} <Link href={`/jobs/${step.job_id}`}>Open its log</Link>
      {onRerun !== null && (
        <button type="button" className="small" onClick={onRerun}>
          Rerun from here
        </button>
      )}
    </span>
  );
}

interface StepNodeProps {
  step: StepState;
  place: { x: number; y: number } | undefined;
  critical: boolean;
  chosen: boolean;
  now: number;
  onChoose: () => void;
}

function StepNode({ step, place, critical, chosen, now, onChoose }: StepNodeProps) {
  if (place === undefined) return null;
  const took = elapsedText(step, now);
  const tone = STATE_TONES[step.status] ?? 'grey';
  return (
    <g
      className={`node tone-${tone}${chosen ? ' node-chosen' : ''}${critical ? ' node-critical' : ''}`}
      transform={`translate(${place.x} ${place.y})`}
    >
      <rect className="node-box" width={NODE_WIDTH} height={NODE_HEIGHT} rx="8" />
      <text className="node-icon" x="14" y="26">
        {STATE_ICONS[step.status]}
      </text>
      <text className="node-name" x="34" y="20">
        {short(step.key, 18)}
      </text>
      <text className="node-sub" x="34" y="37">
        {short(step.group === null ? took : `${took} · ${howItWent(step)}`, 22)}
      </text>
      {/* biome-ignore lint/a11y/useSemanticElements: there are no buttons in SVG */}
      <rect
        className="node-hit"
        role="button"
        tabIndex={0}
        aria-label={`${step.key}, ${step.status}${step.depends_on.length === 0 ? '' : `, after ${step.depends_on.join(', ')}`}`}
        aria-pressed={chosen}
        width={NODE_WIDTH}
        height={NODE_HEIGHT}
        rx="8"
        onClick={onChoose}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' && event.key !== ' ') return;
          event.preventDefault();
          event.stopPropagation();
          onChoose();
        }}
      />
    </g>
  );
}

/** How long the step has run, or its status if it has not started. */
function elapsedText({ status, started_at, done_at }: StepState, now: number): string {
  if (started_at === null) return status;
  const start = Date.parse(started_at);
  return durationText((done_at === null ? Math.max(now, start) : Date.parse(done_at)) - start);
}

function short(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}
