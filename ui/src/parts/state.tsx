import { STATE_ICONS, STATE_TONES } from '../words/state.ts';

/** A state as icon, word and colour, so that no single one of them is needed to read it. */
export function State({ of, quiet = false }: { of: string; quiet?: boolean }) {
  return (
    <span className={`state tone-${STATE_TONES[of] ?? 'grey'}`} data-state={of}>
      <span className="state-icon" aria-hidden="true">
        {STATE_ICONS[of] ?? '·'}
      </span>
      <span className={quiet ? 'visually-hidden' : undefined}>{of}</span>
    </span>
  );
}
