import { useStored } from '../../data/use-stored.ts';
import { useTimeline } from '../schedules/use-timeline.ts';

const HOUR_MS = 3_600_000;

/** The spans of the timeline. Now is at three quarters of each. */
export const ZOOMS = [
  { key: 'hour', title: 'Hour', from: '90m', ahead: '30m', pastMs: 1.5 * HOUR_MS, aheadMs: 0.5 * HOUR_MS, each: 120 },
  { key: 'day', title: 'Day', from: '18h', ahead: '6h', pastMs: 18 * HOUR_MS, aheadMs: 6 * HOUR_MS, each: 150 },
  { key: 'week', title: 'Week', from: '126h', ahead: '42h', pastMs: 126 * HOUR_MS, aheadMs: 42 * HOUR_MS, each: 250 },
] as const;
export type Zoom = (typeof ZOOMS)[number];

/** The timeline with the zoom that was last chosen, and a function that changes it. */
export function useDayTimeline() {
  const [key, setZoom] = useStored<string>('timeline.zoom', 'day');
  const zoom: Zoom = ZOOMS.find((each) => each.key === key) ?? ZOOMS[1];
  const { from, ahead, each } = zoom;
  return { ...useTimeline({ from, ahead, each }), zoom, setZoom };
}
