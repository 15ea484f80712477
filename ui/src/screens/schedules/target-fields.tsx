import type { Schedule } from '../../../../src/api/schedule.ts';
import { QueueField } from '../../parts/queue-field.tsx';
import { WorkflowField } from '../../shell/workflow-field.tsx';
import { countText } from '../../words/count.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { keepsSealed, type Target } from './schedule-fields.ts';
import type { FieldsProps } from './when-fields.tsx';

const TARGETS: readonly [Target, string][] = [
  ['command', 'Command'],
  ['stored', 'Stored workflow'],
  ['workflow', 'Workflow file'],
  ['handler', 'Handler'],
];

/** What a tick runs: a command, a handler with its input, or a workflow from a file. `StoredFields` has those of a stored one. */
export function TargetFields({ fields, onChange, existing }: FieldsProps & { existing: Schedule | undefined }) {
  return (
    <>
      <TargetChoice fields={fields} onChange={onChange} />
      {fields.target === 'command' && (
        <label className="field">
          <span>Command</span>
          <textarea
            name="command"
            rows={2}
            spellCheck={false}
            value={fields.command}
            onChange={(event) => onChange({ command: event.target.value })}
          />
        </label>
      )}
      {fields.target === 'handler' && (
        <HandlerFields fields={fields} onChange={onChange} keepsSealed={keepsSealed(existing)} />
      )}
      {fields.target === 'workflow' && (
        <WorkflowField value={fields.workflow} onChange={(workflow) => onChange({ workflow })} {...hintOf(existing)} />
      )}
      {(fields.target === 'command' || fields.target === 'handler') && (
        <QueueField value={fields.queue} onChange={(queue) => onChange({ queue })} />
      )}
    </>
  );
}

function TargetChoice({ fields, onChange }: FieldsProps) {
  return (
    <fieldset className="choice">
      <legend className="visually-hidden">What it runs</legend>
      {TARGETS.map(([target, words]) => (
        <label key={target}>
          <input type="radio" name="target" checked={fields.target === target} onChange={() => onChange({ target })} />
          <span>{words}</span>
        </label>
      ))}
    </fieldset>
  );
}

function HandlerFields({ fields, onChange, keepsSealed: isKept }: FieldsProps & { keepsSealed: boolean }) {
  return (
    <>
      <label className="field">
        <span>Handler</span>
        <input
          name="handler"
          spellCheck={false}
          value={fields.handler}
          onChange={(event) => onChange({ handler: event.target.value })}
        />
      </label>
      <label className="field">
        <span>Input (JSON)</span>
        <textarea
          name="input"
          rows={4}
          className="code-field"
          spellCheck={false}
          value={fields.input}
          onChange={(event) => onChange({ input: event.target.value })}
        />
        {isKept && <p className="faint small-text">Leave empty to keep the sealed input.</p>}
      </label>
    </>
  );
}

function hintOf(existing: Schedule | undefined): { hint?: string } {
  if (existing?.workflow == null || existing.definition !== null) return {};
  const { name, steps } = existing.workflow;
  return { hint: `Leave empty to keep ${visibleLine(name)} (${countText(steps.length, 'step')}).` };
}
