import { type PointerEvent, type RefObject, useCallback, useEffect, useRef, useState } from 'react';

interface View {
  x: number;
  y: number;
  scale: number;
}

const MIN_SCALE = 0.15;
const MAX_SCALE = 2.5;

/** Moves a graph by dragging, zooms it with Ctrl and the wheel or with buttons, and fits it to its frame at first. */
export function usePanZoom(frame: RefObject<HTMLDivElement | null>, size: { width: number; height: number }) {
  const [view, setView] = useState<View>({ x: 0, y: 0, scale: 1 });
  const grip = useRef<{ x: number; y: number } | null>(null);
  const fit = useCallback(() => {
    const box = frame.current?.getBoundingClientRect();
    if (box === undefined || size.width === 0) return;
    const scale = Math.max(MIN_SCALE, Math.min(1.1, box.width / size.width, box.height / size.height));
    setView({
      scale,
      x: Math.max(0, (box.width - size.width * scale) / 2),
      y: Math.max(0, (box.height - size.height * scale) / 2),
    });
  }, [frame, size]);
  useEffect(fit, [fit]);
  const zoom = useCallback(
    (by: number, at?: { x: number; y: number }) => {
      const box = frame.current?.getBoundingClientRect();
      const point = at ?? { x: (box?.width ?? 0) / 2, y: (box?.height ?? 0) / 2 };
      setView((before) => {
        const scale = Math.max(MIN_SCALE, Math.min(MAX_SCALE, before.scale * by));
        const share = scale / before.scale;
        return { scale, x: point.x - (point.x - before.x) * share, y: point.y - (point.y - before.y) * share };
      });
    },
    [frame],
  );
  useEffect(() => {
    const element = frame.current;
    const onWheel = (event: WheelEvent): void => {
      // Without Ctrl the wheel scrolls the page.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = element?.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY / 300), { x: event.clientX - (box?.left ?? 0), y: event.clientY - (box?.top ?? 0) });
    };
    element?.addEventListener('wheel', onWheel, { passive: false });
    return () => element?.removeEventListener('wheel', onWheel);
  }, [frame, zoom]);
  const handlers = {
    onPointerDown: (event: PointerEvent) => {
      grip.current = { x: event.clientX - view.x, y: event.clientY - view.y };
    },
    onPointerMove: (event: PointerEvent) => {
      const held = grip.current;
      if (held === null || event.buttons === 0) return;
      setView((before) => ({ ...before, x: event.clientX - held.x, y: event.clientY - held.y }));
    },
    onPointerUp: () => {
      grip.current = null;
    },
  };
  return { view, zoom, fit, handlers };
}
