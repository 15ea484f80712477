import { useState } from 'react';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { shellQuote, workron } from '../../words/as-command.ts';

export interface PauseDialogProps {
  name: string;
  onClose: () => void;
  onDone: () => void;
}

/** Pauses a schedule, with a note for other users. */
export function PauseDialog({ name, onClose, onDone }: PauseDialogProps) {
  const [note, setNote] = useState('');
  const pause = useAction({
    run: () => client.pauseSchedule(name, note.trim() === '' ? {} : { note: note.trim() }),
    done: () => `${name} paused`,
    after: () => {
      onClose();
      onDone();
    },
  });
  return (
    <Dialog title={`Pause ${name}`} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          pause.run();
        }}
      >
        <p>While it is paused, its runs are recorded as paused and are not caught up. A backfill can run them later.</p>
        <label className="field">
          <span>Reason (optional)</span>
          {/* biome-ignore lint/a11y/noAutofocus: the dialog's only field */}
          <input autoFocus value={note} maxLength={1_000} onChange={(event) => setNote(event.target.value)} />
        </label>
        <CopyLine
          label="CLI command"
          text={workron(`schedule pause ${name}${note.trim() === '' ? '' : ` --note ${shellQuote(note.trim())}`}`)}
        />
        <div className="dialog-actions">
          <button type="submit" className="primary" disabled={pause.running}>
            Pause
          </button>
        </div>
      </form>
    </Dialog>
  );
}
