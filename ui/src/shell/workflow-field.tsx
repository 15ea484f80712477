import { useEffect, useId, useState } from 'react';
import type { ReadWorkflow } from '../../../src/api/workflow/file.ts';
import { useLater } from '../data/use-later.ts';
import { countText } from '../words/count.ts';

/** The text of a workflow file and the values of its parameters. */
export interface WorkflowText {
  text: string;
  params: Readonly<Record<string, string>>;
}

export const NO_WORKFLOW: WorkflowText = { text: '', params: {} };

const EXAMPLE = `name: nightly-report
steps:
  extract:
    command: ./extract.sh
  report:
    depends_on: [extract]
    command: ./report.sh`;
const MAX_PROBLEMS = 5;

export interface WorkflowFieldProps {
  value: WorkflowText;
  onChange: (value: WorkflowText) => void;
  /** What an empty field means. */
  hint?: string;
}

/** A field for a workflow file that is typed, pasted or chosen; shows its errors and asks for its parameters. */
export function WorkflowField({ value, onChange, hint }: WorkflowFieldProps) {
  const read = useWorkflow(useLater(value.text));
  const id = useId();
  const take = async (file: File | undefined): Promise<void> => {
    if (file !== undefined) onChange({ ...value, text: await file.text() });
  };
  return (
    <div className="stack">
      <label className="field">
        <span>Workflow (YAML or JSON)</span>
        <textarea
          name="workflow"
          rows={8}
          className="code-field"
          spellCheck={false}
          placeholder={EXAMPLE}
          aria-describedby={id}
          value={value.text}
          onChange={(event) => onChange({ ...value, text: event.target.value })}
        />
      </label>
      <label className="field">
        <span>Or a file from this machine</span>
        <input type="file" accept=".yaml,.yml,.json" onChange={(event) => void take(event.target.files?.[0])} />
      </label>
      <div id={id} role="status">
        {value.text.trim() === '' ? (
          hint !== undefined && <p className="faint small-text">{hint}</p>
        ) : (
          <Verdict read={read} />
        )}
      </div>
      {read?.definition != null && read.definition.params.length > 0 && (
        <div className="field-grid">
          {read.definition.params.map((param) => (
            <label key={param.name} className="field">
              <span>
                {param.name}
                {param.required ? ' (needed)' : ''}
              </span>
              <input
                title={param.description ?? param.name}
                placeholder={param.default === undefined ? (param.description ?? param.type) : String(param.default)}
                value={value.params[param.name] ?? ''}
                onChange={(event) =>
                  onChange({ ...value, params: { ...value.params, [param.name]: event.target.value } })
                }
              />
            </label>
          ))}
        </div>
      )}
    </div>
  );
}

function Verdict({ read }: { read: ReadWorkflow | null }) {
  if (read === null) return <p className="faint small-text">Reading…</p>;
  return (
    <>
      {read.definition !== null && (
        <p className="small-text">
          <span className="tone-green" aria-hidden="true">
            ✓
          </span>{' '}
          {read.definition.name}, {countText(read.definition.steps.length, 'step')}
        </p>
      )}
      {read.problems.length > 0 && (
        <ul className="small-text">
          {read.problems.slice(0, MAX_PROBLEMS).map(({ line, column, message, severity }) => (
            <li key={`${line} ${column} ${message}`} className={severity === 'error' ? 'problem-text' : 'muted'}>
              Line {line}: {message}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** `null` until the text has been read. */
function useWorkflow(text: string): ReadWorkflow | null {
  const [read, setRead] = useState<{ text: string; found: ReadWorkflow } | null>(null);
  useEffect(() => {
    if (text.trim() === '') return;
    let wanted = true;
    void import('../data/workflow-text.ts').then(({ readWorkflowFile }) => {
      if (wanted) setRead({ text, found: readWorkflowFile(text) });
    });
    return () => {
      wanted = false;
    };
  }, [text]);
  return text.trim() === '' ? null : (read?.found ?? null);
}
