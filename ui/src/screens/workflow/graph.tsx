import { useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { WorkflowDetail } from '../../../../src/api/workflow/workflow.ts';
import { useNow } from '../../data/use-now.ts';
import { durationText } from '../../words/duration.ts';
import { hasEnded, STATE_ICONS, STATE_TONES } from '../../words/state.ts';
import { layOut, NODE_HEIGHT, NODE_WIDTH } from './lay-out.ts';
import { howItWent } from './step-list.tsx';
import { usePanZoom } from './use-pan-zoom.ts';

/** The workflow as a picture that can be moved and zoomed; states change in place, nothing jumps. */
export function Graph({ workflow, onRerun }: { workflow: WorkflowDetail; onRerun: (key: string) => void }) {
  // The shape never changes while the states do.
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
          <span className="graph-chosen">
            <b>{step.key}</b> {howItWent(step)} <Link href={`/jobs/${step.job_id}`}>Open its log</Link>
            {hasEnded(workflow.status) && (
              <button type="button" className="small" onClick={() => onRerun(step.key)}>
                Rerun from here
              </button>
            )}
          </span>
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
            {workflow.steps.map((each) => {
              const place = laid.nodes.get(each.key);
              if (place === undefined) return null;
              const took =
                each.started_at === null
                  ? each.status
                  : durationText(
                      (each.done_at === null ? Math.max(now, Date.parse(each.started_at)) : Date.parse(each.done_at)) -
                        Date.parse(each.started_at),
                    );
              const tone = STATE_TONES[each.status] ?? 'grey';
              return (
                <g
                  key={each.key}
                  className={`node tone-${tone}${each.key === chosen ? ' node-chosen' : ''}${critical.has(each.key) ? ' node-critical' : ''}`}
                  transform={`translate(${place.x} ${place.y})`}
                >
                  <rect className="node-box" width={NODE_WIDTH} height={NODE_HEIGHT} rx="8" />
                  <text className="node-icon" x="14" y="26">
                    {STATE_ICONS[each.status]}
                  </text>
                  <text className="node-name" x="34" y="20">
                    {short(each.key, 18)}
                  </text>
                  <text className="node-sub" x="34" y="37">
                    {short(each.group === null ? took : `${took} · ${howItWent(each)}`, 22)}
                  </text>
                  {/* biome-ignore lint/a11y/useSemanticElements: there are no buttons in SVG */}
                  <rect
                    className="node-hit"
                    role="button"
                    tabIndex={0}
                    aria-label={`${each.key}, ${each.status}${each.depends_on.length === 0 ? '' : `, after ${each.depends_on.join(', ')}`}`}
                    aria-pressed={each.key === chosen}
                    width={NODE_WIDTH}
                    height={NODE_HEIGHT}
                    rx="8"
                    onClick={() => setChosen(each.key)}
                    onKeyDown={(event) => {
                      if (event.key !== 'Enter' && event.key !== ' ') return;
                      event.preventDefault();
                      event.stopPropagation();
                      setChosen(each.key);
                    }}
                  />
                </g>
              );
            })}
          </g>
        </svg>
      </div>
    </div>
  );
}

function short(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
