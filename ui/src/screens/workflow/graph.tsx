import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import type { StepState, WorkflowDetail } from '../../../../src/api/workflow/workflow.ts';
import { useNow } from '../../data/use-now.ts';
import { countText } from '../../words/count.ts';
import { durationText } from '../../words/duration.ts';
import { hasEnded, STATE_ICONS, STATE_TONES } from '../../words/state.ts';
import { type Direction, directionFor, type Laid, layOut, NODE_HEIGHT, NODE_WIDTH } from './lay-out.ts';
import { Minimap } from './minimap.tsx';
import { howItWent } from './step-list.tsx';
import { StepPanel } from './step-panel.tsx';
import { usePanZoom } from './use-pan-zoom.ts';

/** The workflow as a graph that can be moved and zoomed. States change in place. */
export function Graph({ workflow, onRerun }: { workflow: WorkflowDetail; onRerun: (key: string) => void }) {
  const frame = useRef<HTMLDivElement>(null);
  const [turned, setTurned] = useState<Direction | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [follow, setFollow] = useState(false);
  const { laid, direction } = useLayout(workflow, frame, turned);
  const { view, zoom, fit, moveTo, handlers } = usePanZoom(frame, laid, startOf(workflow, laid));
  const now = useNow();
  const critical = new Set(workflow.critical_path);
  const step = workflow.steps.find(({ key }) => key === chosen);
  useFollow(follow ? workflow : null, laid, moveTo);
  return (
    <div className="graph">
      <GraphTools
        follow={hasEnded(workflow.status) ? null : follow}
        onFollow={setFollow}
        onZoom={zoom}
        onFit={fit}
        onTurn={() => setTurned(direction === 'LR' ? 'TB' : 'LR')}
      />
      <div className="graph-split">
        <div className="graph-place">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
          <div ref={frame} className="graph-frame" tabIndex={0} role="region" aria-label="Graph" {...handlers}>
            <svg
              className="graph-svg"
              width={laid.width * view.scale}
              height={laid.height * view.scale}
              role="group"
              aria-label={`Graph of ${countText(workflow.steps.length, 'step')}; the list of steps says the same`}
            >
              <g transform={`scale(${view.scale})`}>
                {laid.edges.map(({ from, to, path }) => (
                  <path key={`${from} ${to}`} d={path} className={edgeClass(workflow, critical, from, to)} />
                ))}
                {workflow.steps.map((each) => (
                  <StepNode
                    key={each.key}
                    step={each}
                    place={laid.nodes.get(each.key)}
                    critical={critical.has(each.key)}
                    chosen={each.key === chosen}
                    now={now}
                    onChoose={() => setChosen(each.key === chosen ? null : each.key)}
                  />
                ))}
              </g>
            </svg>
          </div>
          <Minimap workflow={workflow} laid={laid} view={view} frame={frame} onMove={moveTo} />
        </div>
        {step !== undefined && (
          <StepPanel step={step} workflow={workflow} onRerun={onRerun} onClose={() => setChosen(null)} />
        )}
      </div>
    </div>
  );
}

/** The middle of the first step that failed, else of one that runs; `null`: of none. */
function startOf({ steps }: WorkflowDetail, laid: Laid): { x: number; y: number } | null {
  const step = steps.find(({ status }) => status === 'failed') ?? steps.find(({ status }) => status === 'running');
  const place = laid.nodes.get(step?.key ?? '');
  return place === undefined ? null : middleOf(place);
}

function middleOf({ x, y }: { x: number; y: number }): { x: number; y: number } {
  return { x: x + NODE_WIDTH / 2, y: y + NODE_HEIGHT / 2 };
}

/** Keeps the step that runs in the middle; `null`: does not. */
function useFollow(
  workflow: WorkflowDetail | null,
  laid: Laid,
  moveTo: (point: { x: number; y: number }) => void,
): void {
  const running = workflow?.steps.find(({ status }) => status === 'running')?.key;
  useEffect(() => {
    const place = laid.nodes.get(running ?? '');
    if (place !== undefined) moveTo(middleOf(place));
  }, [running, laid, moveTo]);
}

/** Lays the graph out again only if its shape or its direction changes: states change much more often. */
function useLayout(workflow: WorkflowDetail, frame: RefObject<HTMLDivElement | null>, turned: Direction | null) {
  const shape = workflow.steps.map(({ key, depends_on }) => `${key}<${depends_on.join()}`).join(';');
  const [window, setWindow] = useState({ width: 1_000, height: 600 });
  useEffect(() => {
    const box = frame.current?.getBoundingClientRect();
    if (box !== undefined) setWindow({ width: box.width, height: box.height });
  }, [frame]);
  return useMemo(() => {
    const direction = turned ?? directionFor(workflow.steps, window);
    return { direction, laid: layOut(workflow.steps, direction) };
  }, [shape, turned, window]);
}

/** The path from a failure to what was skipped because of it is drawn in its colour. */
function edgeClass(workflow: WorkflowDetail, critical: ReadonlySet<string>, from: string, to: string): string {
  const statusOf = (key: string) => workflow.steps.find((step) => step.key === key)?.status;
  if (statusOf(to) === 'skipped' && ['failed', 'skipped'].includes(statusOf(from) ?? '')) return 'edge edge-broken';
  return critical.has(from) && critical.has(to) ? 'edge edge-critical' : 'edge';
}

interface GraphToolsProps {
  /** `null` once the workflow has ended. */
  follow: boolean | null;
  onFollow: (on: boolean) => void;
  onZoom: (by: number) => void;
  onFit: () => void;
  onTurn: () => void;
}

function GraphTools({ follow, onFollow, onZoom, onFit, onTurn }: GraphToolsProps) {
  return (
    <div className="graph-tools">
      <button type="button" className="small" onClick={() => onZoom(1.25)} aria-label="Zoom in">
        +
      </button>
      <button type="button" className="small" onClick={() => onZoom(0.8)} aria-label="Zoom out">
        −
      </button>
      <button type="button" className="small" onClick={onFit}>
        Fit
      </button>
      <button type="button" className="small" onClick={onTurn}>
        Rotate
      </button>
      {follow !== null && (
        <button type="button" className="small" aria-pressed={follow} onClick={() => onFollow(!follow)}>
          Follow
        </button>
      )}
    </div>
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
