import type { WorkflowDetail } from '../../../../src/api/workflow/workflow.ts';
import { May } from '../../parts/may.tsx';
import { workflowQueues } from '../../words/needed-queues.ts';

interface RerunButtonProps {
  step: string;
  workflow: WorkflowDetail;
  onRerun: (key: string) => void;
}

/** For those who may submit to all queues that it needs. */
export function RerunButton({ step, workflow, onRerun }: RerunButtonProps) {
  return (
    <May scope="submit" queue={workflowQueues(workflow)}>
      <button type="button" className="small" onClick={() => onRerun(step)}>
        Rerun from here<span className="visually-hidden"> {step}</span>
      </button>
    </May>
  );
}
