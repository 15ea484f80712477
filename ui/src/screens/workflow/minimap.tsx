import { type RefObject, useEffect, useState } from 'react';
import type { WorkflowDetail } from '../../../../src/api/workflow/workflow.ts';
import { STATE_TONES } from '../../words/state.ts';
import { type Laid, NODE_HEIGHT, NODE_WIDTH } from './lay-out.ts';
import type { View } from './use-pan-zoom.ts';

const WIDTH = 160;
const HEIGHT = 100;

interface MinimapProps {
  workflow: WorkflowDetail;
  laid: Laid;
  view: View;
  frame: RefObject<HTMLDivElement | null>;
  onMove: (to: { x: number; y: number }) => void;
}

/** The whole graph in small, with the part that is visible. Not shown if all of it is. */
export function Minimap({ workflow, laid, view, frame, onMove }: MinimapProps) {
  const [box, setBox] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setBox({ width: element.clientWidth, height: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame]);
  const all = laid.width * view.scale <= box.width + 2 && laid.height * view.scale <= box.height + 2;
  if (all || box.width < 480) return null;
  const scale = Math.min(WIDTH / laid.width, HEIGHT / laid.height);
  return (
    <svg
      className="minimap"
      width={laid.width * scale}
      height={laid.height * scale}
      aria-hidden="true"
      onPointerDown={(event) => {
        event.stopPropagation();
        const own = event.currentTarget.getBoundingClientRect();
        onMove({ x: (event.clientX - own.left) / scale, y: (event.clientY - own.top) / scale });
      }}
    >
      {workflow.steps.map(({ key, status }) => {
        const place = laid.nodes.get(key);
        return (
          place !== undefined && (
            <rect
              key={key}
              className={`minimap-node tone-${STATE_TONES[status] ?? 'grey'}`}
              x={place.x * scale}
              y={place.y * scale}
              width={NODE_WIDTH * scale}
              height={NODE_HEIGHT * scale}
            />
          )
        );
      })}
      <rect
        className="minimap-view"
        x={(view.x / view.scale) * scale}
        y={(view.y / view.scale) * scale}
        width={(box.width / view.scale) * scale}
        height={(box.height / view.scale) * scale}
      />
    </svg>
  );
}
