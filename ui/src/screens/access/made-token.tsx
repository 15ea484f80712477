import type { MadeToken } from '../../../../src/api/token.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';

/** Shows a token that was just made, this once. */
export function MadeTokenDialog({ made, onClose }: { made: MadeToken; onClose: () => void }) {
  return (
    <Dialog title={`Token ${made.name}`} onClose={onClose}>
      <div className="stack">
        <p className="note">Copy it now: it won't be shown again. The store has only its hash.</p>
        <CopyLine label="Token" text={made.token} />
        <CopyLine label="For the command line and workers" text={`export WORKRON_TOKEN=${made.token}`} />
        <div className="dialog-actions">
          <button type="button" className="primary" onClick={onClose}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  );
}
