import { type ReactNode, useState } from 'react';
import { CopyLine } from './copy.tsx';
import { Dialog } from './dialog.tsx';

export interface ConfirmProps {
  title: string;
  children: ReactNode;
  /** The label of the button. */
  verb: string;
  danger?: boolean;
  /** Text that the user must type first. */
  typed?: string;
  /** The same action on the command line. */
  cli?: string;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks for confirmation before an action that cannot be undone or affects many jobs. */
export function Confirm({ title, children, verb, danger = false, typed, cli, onConfirm, onClose }: ConfirmProps) {
  const [text, setText] = useState('');
  const allowed = typed === undefined || text.trim() === typed;
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!allowed) return;
          onConfirm();
          onClose();
        }}
      >
        <div>{children}</div>
        {typed !== undefined && (
          <label className="field">
            <span>
              Type <b>{typed}</b> to confirm
            </span>
            <input value={text} onChange={(event) => setText(event.target.value)} autoComplete="off" />
          </label>
        )}
        {cli !== undefined && <CopyLine label="CLI command" text={cli} />}
        <div className="dialog-actions">
          <button type="button" onClick={onClose}>
            {/* Beside a button that cancels something else, "Cancel" could mean both. */}
            {verb.startsWith('Cancel') ? 'Back' : 'Cancel'}
          </button>
          <button type="submit" className={danger ? 'danger' : 'primary'} disabled={!allowed}>
            {verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
