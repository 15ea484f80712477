import { type PointerEvent, type RefObject, useCallback, useEffect, useRef, useState } from 'react';

export interface View {
  /** The point of the graph in the upper left corner, in pixels of the screen. */
  x: number;
  y: number;
  scale: number;
}

interface Point {
  x: number;
  y: number;
}

const MIN_SCALE = 0.15;
const MAX_SCALE = 2.5;
/** Below this the names of steps cannot be read: a larger graph is scrolled instead. */
const READABLE_SCALE = 0.8;

/**
 * Scrolls a graph by dragging, zooms it with Ctrl and the wheel or with buttons, and fits it to its frame at first. Of a graph that
 * is larger, `start` comes to the middle.
 */
export function usePanZoom(
  frame: RefObject<HTMLDivElement | null>,
  size: { width: number; height: number },
  start: Point | null,
) {
  const [view, setView] = useState<View>({ x: 0, y: 0, scale: 1 });
  /** The point that stays where it is on the screen when the scale changes. */
  const anchor = useRef<{ at: Point; point: Point } | null>(null);
  const grip = useRef<Point | null>(null);
  const fit = useFit(frame, size, start, (scale) => setView((before) => ({ ...before, scale })));
  const zoom = useCallback(
    (by: number, given?: Point) => {
      const box = frame.current?.getBoundingClientRect();
      const at = given ?? { x: (box?.width ?? 0) / 2, y: (box?.height ?? 0) / 2 };
      setView((before) => {
        anchor.current = { at, point: { x: (before.x + at.x) / before.scale, y: (before.y + at.y) / before.scale } };
        return { ...before, scale: Math.max(MIN_SCALE, Math.min(MAX_SCALE, before.scale * by)) };
      });
    },
    [frame],
  );
  useEffect(() => {
    const held = anchor.current;
    if (held === null) return;
    anchor.current = null;
    frame.current?.scrollTo(held.point.x * view.scale - held.at.x, held.point.y * view.scale - held.at.y);
  }, [frame, view.scale]);
  useWheel(frame, zoom);
  /** Scrolls this point of the graph to the middle. */
  const moveTo = useCallback(
    ({ x, y }: Point) => {
      const box = frame.current?.getBoundingClientRect();
      frame.current?.scrollTo(x * view.scale - (box?.width ?? 0) / 2, y * view.scale - (box?.height ?? 0) / 2);
    },
    [frame, view.scale],
  );
  const handlers = {
    onScroll: () => {
      const { scrollLeft = 0, scrollTop = 0 } = frame.current ?? {};
      setView((before) => ({ ...before, x: scrollLeft, y: scrollTop }));
    },
    onPointerDown: (event: PointerEvent) => {
      // Fingers scroll by themselves.
      if (event.pointerType === 'mouse') grip.current = { x: event.clientX + view.x, y: event.clientY + view.y };
    },
    onPointerMove: (event: PointerEvent) => {
      const held = grip.current;
      if (held !== null && event.buttons > 0) frame.current?.scrollTo(held.x - event.clientX, held.y - event.clientY);
    },
    onPointerUp: () => {
      grip.current = null;
    },
  };
  return { view, zoom, fit, moveTo, handlers };
}

/** Fits the graph to its frame, at once and whenever its layout changes. Returns a function that does it again. */
function useFit(
  frame: RefObject<HTMLDivElement | null>,
  size: { width: number; height: number },
  start: Point | null,
  onScale: (scale: number) => void,
): () => void {
  // A step that changes its state later does not move the graph.
  const latest = useRef({ start, onScale });
  latest.current = { start, onScale };
  const fit = useCallback(() => {
    const box = frame.current?.getBoundingClientRect();
    if (box === undefined || size.width === 0) return;
    const scale = Math.max(READABLE_SCALE, Math.min(1.1, box.width / size.width, box.height / size.height));
    latest.current.onScale(scale);
    const { x, y } = latest.current.start ?? { x: 0, y: 0 };
    // Once the graph has its new size.
    requestAnimationFrame(() => frame.current?.scrollTo(x * scale - box.width / 2, y * scale - box.height / 2));
  }, [frame, size]);
  useEffect(fit, [fit]);
  return fit;
}

/** Zooms at the pointer with Ctrl and the wheel. Without Ctrl the wheel scrolls. */
function useWheel(frame: RefObject<HTMLDivElement | null>, zoom: (by: number, at: Point) => void): void {
  useEffect(() => {
    const element = frame.current;
    const onWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = element?.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY / 300), { x: event.clientX - (box?.left ?? 0), y: event.clientY - (box?.top ?? 0) });
    };
    element?.addEventListener('wheel', onWheel, { passive: false });
    return () => element?.removeEventListener('wheel', onWheel);
  }, [frame, zoom]);
}
