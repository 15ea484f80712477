import { useState } from 'react';
import type { WorkflowDetail } from '../../../../src/api/workflow/workflow.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { shellQuote, workron } from '../../words/as-command.ts';
import { countText } from '../../words/count.ts';
import { stepsBelow } from './steps-below.ts';

export interface RerunDialogProps {
  workflow: WorkflowDetail;
  from: string;
  onClose: () => void;
  onDone: (workflowId: string) => void;
}

/** Reruns a step and all steps after it as a new workflow that keeps the results of the others. */
export function RerunDialog({ workflow, from, onClose, onDone }: RerunDialogProps) {
  const [only, setOnly] = useState(false);
  const below = stepsBelow(workflow.steps, from);
  const rerun = useAction({
    run: () => client.rerunWorkflow(workflow.id, { from, only }),
    done: (made) => `Started workflow ${made.id}: a rerun of ${workflow.id} from ${from}`,
    after: (made) => onDone(made.id),
  });
  return (
    <Dialog title={`Rerun from ${from}`} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          rerun.run();
        }}
      >
        <p>
          A new workflow runs <b>{from}</b>
          {only || below.length === 0 ? ' alone' : ` and ${countText(below.length, 'step')} after it`}. Steps that are
          done are kept with their results. This workflow stays as it is.
        </p>
        <label className="check">
          <input type="checkbox" checked={only} onChange={(event) => setOnly(event.target.checked)} />
          <span>Only this step</span>
        </label>
        <CopyLine
          label="CLI command"
          text={workron(`workflow rerun ${workflow.id} --from ${shellQuote(from)}${only ? ' --only' : ''}`)}
        />
        <div className="dialog-actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={rerun.running}>
            Rerun
          </button>
        </div>
      </form>
    </Dialog>
  );
}
