import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Definition } from '../../../../src/api/workflow/stored.ts';
import { runDefinition } from '../../data/definitions.ts';
import { useAction } from '../../data/use-action.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { shellQuote, workron } from '../../words/as-command.ts';
import { visibleLine } from '../../words/visible-text.ts';

/** Runs a stored workflow, with a form made from its parameters. */
export function RunDialog({ definition, onClose }: { definition: Definition; onClose: () => void }) {
  const { name, params } = definition;
  const [values, setValues] = useState<Record<string, string>>({});
  const [, go] = useLocation();
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
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
        {params.length === 0 && <p className="muted">It has no parameters.</p>}
        {params.map((param) => (
          <ParamField
            key={param.name}
            param={param}
            value={values[param.name] ?? ''}
            onChange={(value) => setValues((before) => ({ ...before, [param.name]: value }))}
          />
        ))}
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
export function runCommand({ name, params }: Definition, given: Readonly<Record<string, string>> = {}): string {
  const missing = params.filter((param) => param.required && given[param.name] === undefined);
  const values = { ...given, ...Object.fromEntries(missing.map((param) => [param.name, param.name.toUpperCase()])) };
  const flags = Object.entries(values).map(([key, value]) => ` --param ${shellQuote(`${key}=${value}`)}`);
  return workron(`workflow run ${name}${flags.join('')}`);
}

interface ParamFieldProps {
  param: Definition['params'][number];
  value: string;
  onChange: (value: string) => void;
}

function ParamField({ param, value, onChange }: ParamFieldProps) {
  const { name, type, required, description } = param;
  const initial = param.default == null ? '' : textOf(param.default);
  const options = param.enum?.map(textOf) ?? (type === 'boolean' ? ['true', 'false'] : null);
  return (
    <label className="field">
      <span>
        <b>{name}</b> <span className="faint">{type}</span>
        {required && <span className="faint">, required</span>}
        {description !== null && <span className="faint">: {visibleLine(description)}</span>}
      </span>
      {options === null ? (
        <input
          name={name}
          required={required}
          placeholder={initial}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <select name={name} required={required} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">{initial === '' ? 'choose' : `${initial} (default)`}</option>
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      )}
    </label>
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
