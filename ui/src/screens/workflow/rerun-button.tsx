import type { WorkflowDetail } from '../../../../src/api/workflow/workflow.ts';
import { May } from '../../parts/may.tsx';

interface RerunButtonProps {
  step: string;
  workflow: WorkflowDetail;
  onRerun: (key: string) => void;
}

/** For those who may submit to the queues of all steps: a rerun copies the whole workflow. */
export function RerunButton({ step, workflow, onRerun }: RerunButtonProps) {
  return (
    <May scope="submit" queue={workflow.steps.map(({ queue }) => queue)}>
      <button type="button" className="small" onClick={() => onRerun(step)}>
        Rerun from here<span className="visually-hidden"> {step}</span>
      </button>
    </May>
  );
}
