import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Definition } from '../../../../src/api/workflow/stored.ts';
import { runDefinition } from '../../data/definitions.ts';
import { useAction } from '../../data/use-action.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { givenParams, ParamFields, type ParamValues, paramFlags } from '../../parts/param-fields.tsx';
import { workron } from '../../words/as-command.ts';

/** Runs a stored workflow, with a form made from its parameters. */
export function RunDialog({ definition, onClose }: { definition: Definition; onClose: () => void }) {
  const { name, params } = definition;
  const [values, setValues] = useState<ParamValues>({});
  const [, go] = useLocation();
  const given = givenParams(params, values);
  const run = useAction({
    run: () => runDefinition(name, given),
    done: ({ id }) => `Started workflow ${id}`,
    after: ({ id }) => {
      onClose();
      go(`/workflows/${id}`);
    },
  });
  return (
    <Dialog title={`Run ${name}`} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          run.run();
        }}
      >
        <ParamFields params={params} values={values} onChange={setValues} />
        <CopyLine label="CLI command" text={runCommand(definition, given)} />
        <div className="dialog-actions">
          <button type="submit" className="primary" disabled={run.running}>
            Run
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The command that runs it. What must be given and is not has a placeholder. */
export function runCommand({ name, params }: Definition, given: ParamValues = {}): string {
  return workron(['workflow run', name, ...paramFlags(params, given)].join(' '));
}
