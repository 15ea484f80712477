import { type FormEvent, useState } from 'react';
import type { MadeToken } from '../../../../src/api/token.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { workron } from '../../words/as-command.ts';

const OVERLAPS = [
  ['24h', 'a day'],
  ['1h', 'an hour'],
  ['7d', 'a week'],
  ['0s', 'no longer'],
] as const;

interface RotateTokenProps {
  name: string;
  onMade: (made: MadeToken) => void;
  onClose: () => void;
}

/** Makes a second token of a name; the first stays valid for a while. */
export function RotateToken({ name, onMade, onClose }: RotateTokenProps) {
  const [overlap, setOverlap] = useState<string>('24h');
  const rotate = useAction({
    run: () => client.rotateToken(name, { overlap }),
    done: () => null,
    after: onMade,
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    rotate.run();
  };
  return (
    <Dialog title={`Rotate ${name}`} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <p>
          Creates a second token with the same name and rights, so that its users can switch without an interruption.
        </p>
        <label className="field">
          <span>The old token stays valid for</span>
          <select value={overlap} onChange={(event) => setOverlap(event.target.value)}>
            {OVERLAPS.map(([time, title]) => (
              <option key={time} value={time}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <CopyLine label="CLI command" text={workron(`tokens rotate ${name} --overlap ${overlap}`)} />
        <div className="dialog-actions">
          <button type="submit" className="primary" disabled={rotate.running}>
            Rotate
          </button>
        </div>
      </form>
    </Dialog>
  );
}
