import { countText } from '../words/count.ts';

/** More slots than this are drawn as a bar. */
const MAX_DOTS = 24;

interface SlotsProps {
  running: number;
  slots: number;
  /** Jobs that the worker holds besides the running ones. */
  more?: number;
  label: string;
}

/** The slots of a worker as dots: filled ones are in use. */
export function Slots({ running, slots, more = 0, label }: SlotsProps) {
  const words = `${running} of ${countText(slots, 'slot')}`;
  return (
    <span
      className="slots"
      role="meter"
      aria-label={label}
      aria-valuenow={running}
      aria-valuemin={0}
      aria-valuemax={slots}
      aria-valuetext={words}
      title={more > 0 ? `${words} in use, ${more} more held` : `${words} in use`}
    >
      {slots <= MAX_DOTS ? (
        Array.from({ length: slots }, (_, slot) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: slots have no other name
          <span key={slot} className={slot < running ? 'slot slot-used' : 'slot'} />
        ))
      ) : (
        <span className="slot-track">
          <span className="slot-bar" style={{ width: `${(running / slots) * 100}%` }} />
        </span>
      )}
    </span>
  );
}
