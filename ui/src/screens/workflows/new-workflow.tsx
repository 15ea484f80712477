import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { client } from '../../data/client.ts';
import { applyDefinition } from '../../data/definitions.ts';
import { useAction } from '../../data/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { NO_WORKFLOW, WorkflowField, type WorkflowText } from '../../shell/workflow-field.tsx';
import { messageOf } from '../../words/message-of.ts';

/** Submits a workflow file that is typed, pasted or chosen, and shows it. */
export function NewWorkflow({ onClose }: { onClose: () => void }) {
  const [value, setValue] = useState<WorkflowText>(NO_WORKFLOW);
  const [problem, setProblem] = useState<string | null>(null);
  const [sending, setSending] = useState(false);
  const [, go] = useLocation();
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setSending(true);
    try {
      const { workflowFrom } = await import('../../data/workflow-text.ts');
      const { id } = await client.submitWorkflow(workflowFrom(value.text, value.params));
      onClose();
      go(`/workflows/${id}`);
    } catch (error) {
      setProblem(messageOf(error));
      setSending(false);
    }
  };
  const store = useAction({
    run: async () => {
      const { readWorkflowFile } = await import('../../data/workflow-text.ts');
      const { definition, problems } = readWorkflowFile(value.text);
      if (definition === null) throw new Error(problems[0]?.message ?? 'It is not a workflow');
      return await applyDefinition(definition.name, value.text);
    },
    done: ({ name, version, changed }) =>
      changed ? `Stored ${name} as version ${version}` : `${name} is the same as version ${version}`,
    after: ({ name }) => {
      onClose();
      go(`/definitions/${name}`);
    },
  });
  return (
    <Dialog title="Run a workflow" onClose={onClose} wide>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <WorkflowField value={value} onChange={setValue} />
        <p className="problem-text" role="alert">
          {problem}
        </p>
        <div className="dialog-actions">
          <button type="button" disabled={store.running || value.text.trim() === ''} onClick={() => store.run()}>
            Store it
          </button>
          <button type="submit" className="primary" disabled={sending || value.text.trim() === ''}>
            Run
          </button>
        </div>
      </form>
    </Dialog>
  );
}
