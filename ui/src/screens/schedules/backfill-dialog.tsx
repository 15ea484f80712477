import { useState } from 'react';
import type { Backfill } from '../../../../src/api/tick.ts';
import { client } from '../../data/client.ts';
import { serverNow } from '../../data/server-clock.ts';
import { useAction } from '../../data/use-action.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { workron } from '../../words/as-command.ts';
import { countText } from '../../words/count.ts';
import { dayText } from '../../words/instant.ts';

const DAY_MS = 86_400_000;
const SHOWN = 12;

export interface BackfillDialogProps {
  name: string;
  onClose: () => void;
  onDone: () => void;
}

/** Runs ticks that never ran: lists them first, and runs them when the user confirms. */
export function BackfillDialog({ name, onClose, onDone }: BackfillDialogProps) {
  const [from, setFrom] = useState(() => localInput(serverNow() - DAY_MS));
  const [to, setTo] = useState(() => localInput(serverNow()));
  const [plan, setPlan] = useState<Backfill | null>(null);
  const range = () => ({ from: isoOf(from), to: isoOf(to) });
  const look = useAction({
    run: () => client.backfillSchedule(name, { ...range(), dry_run: true }),
    done: () => null,
    after: setPlan,
  });
  const run = useAction({
    run: () => client.backfillSchedule(name, range()),
    done: (made) => `Started ${countText(made.items.length, 'run')} of ${name}`,
    after: () => {
      onClose();
      onDone();
    },
  });
  const missing = plan?.missing ?? [];
  const changed = (set: (value: string) => void) => (value: string) => {
    set(value);
    setPlan(null);
  };
  return (
    <Dialog title={`Backfill ${name}`} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (plan === null) look.run();
          else run.run();
        }}
      >
        <div className="field-grid">
          <InstantField label="From" value={from} onChange={changed(setFrom)} />
          <InstantField label="To" value={to} onChange={changed(setTo)} />
        </div>
        {plan !== null && <MissingTicks ticks={missing} />}
        <CopyLine
          label="CLI command"
          text={workron(`schedule backfill ${name} --from ${range().from} --to ${range().to}`)}
        />
        <div className="dialog-actions">
          {plan === null ? (
            <button type="submit" className="primary" disabled={look.running}>
              Show what would run
            </button>
          ) : (
            <button type="submit" className="primary" disabled={run.running || missing.length === 0}>
              Start {countText(missing.length, 'run')}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

function InstantField({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  return (
    <label className="field">
      <span>{label}</span>
      <input type="datetime-local" required value={value} onChange={(event) => onChange(event.target.value)} />
    </label>
  );
}

function MissingTicks({ ticks }: { ticks: Backfill['missing'] }) {
  return (
    <div role="status">
      <p>
        {ticks.length === 0
          ? 'Nothing is missing in this range.'
          : `${countText(ticks.length, 'run')} missing in this range:`}
      </p>
      <ul className="small-text faint">
        {ticks.slice(0, SHOWN).map((tick) => (
          <li key={`${tick.key} ${tick.scheduled_for}`}>
            {dayText(Date.parse(tick.scheduled_for))} {tick.key}
          </li>
        ))}
        {ticks.length > SHOWN && <li>… and {ticks.length - SHOWN} more</li>}
      </ul>
    </div>
  );
}

/** The instant in a `datetime-local` field; empty while it is not complete. */
function isoOf(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}

/** The value of a `datetime-local` field, in the viewer's time zone. */
function localInput(at: number): string {
  const date = new Date(at);
  return new Date(at - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
