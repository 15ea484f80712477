import { Preview } from './preview.tsx';
import type { Fields } from './schedule-fields.ts';

export interface FieldsProps {
  fields: Fields;
  onChange: (change: Partial<Fields>) => void;
}

/** Cron expression or interval, with a preview of the next ticks. */
export function WhenFields({ fields: { kind, text, timezone }, onChange }: FieldsProps) {
  return (
    <>
      <fieldset className="choice">
        <legend className="visually-hidden">When</legend>
        {(['cron', 'every'] as const).map((each) => (
          <label key={each}>
            <input
              type="radio"
              name="when"
              checked={kind === each}
              onChange={() => onChange({ kind: each, text: each === 'cron' ? '0 9 * * MON-FRI' : '15m' })}
            />
            <span>{each === 'cron' ? 'Cron' : 'Interval'}</span>
          </label>
        ))}
      </fieldset>
      <div className="field-grid">
        <label className="field">
          <span>{kind === 'cron' ? 'Cron expression' : 'Every'}</span>
          <input
            name="expression"
            spellCheck={false}
            aria-describedby="schedule-preview"
            value={text}
            onChange={(event) => onChange({ text: event.target.value })}
          />
        </label>
        <label className="field">
          <span>Time zone</span>
          <input
            name="timezone"
            spellCheck={false}
            list="zones"
            value={timezone}
            onChange={(event) => onChange({ timezone: event.target.value })}
          />
        </label>
      </div>
      <datalist id="zones">
        {Intl.supportedValuesOf('timeZone').map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <Preview kind={kind} text={text} timezone={timezone} />
    </>
  );
}
