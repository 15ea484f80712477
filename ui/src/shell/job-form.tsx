import { type FormEvent, useState } from 'react';
import type { SubmittedJob } from '../../../src/api/job.ts';
import type { JobSubmissionInput } from '../../../src/api/job-submission.ts';
import { client } from '../data/client.ts';
import { CopyLine } from '../parts/copy.tsx';
import { QueueField, useFirstQueue } from '../parts/queue-field.tsx';
import { asCli, asCurl } from '../words/as-command.ts';
import { messageOf } from '../words/message-of.ts';
import { fieldsFrom, type JobFields, submissionFrom } from './job-fields.ts';

export interface JobFormProps {
  start: JobSubmissionInput;
  verb: string;
  onDone: (job: SubmittedJob) => void;
  /** Shows the command and the button only; the other fields can be unfolded. */
  short?: boolean;
}

const NAME = ['name', 'Name', 'nightly-import'] as const;
const TEXTS = [
  ['priority', 'Priority', '0'],
  ['delay', 'Start after', 'in 10m, or 2026-01-31T09:00:00Z'],
  ['timeout', 'Timeout', '5m'],
  ['maxAttempts', 'Attempts', '3'],
  ['tags', 'Tags', 'eu, nightly'],
] as const;
type Text = typeof NAME | (typeof TEXTS)[number];

/** Submits a command or a handler with its input, and shows the same call for the terminal while it is typed. */
export function JobForm({ start, verb, onDone, short = false }: JobFormProps) {
  const firstQueue = useFirstQueue();
  const [fields, setFields] = useState<JobFields>(() => {
    const initial = fieldsFrom(start);
    return { ...initial, queue: firstQueue(initial.queue) };
  });
  const [problem, setProblem] = useState<string | null>(null);
  const [sending, setSending] = useState(false);
  const set = (change: Partial<JobFields>): void => setFields((before) => ({ ...before, ...change }));
  const made = submissionFrom(fields, start);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if ('problem' in made) return setProblem(made.problem);
    setSending(true);
    try {
      const job = await client.submit(made.job);
      setProblem(null);
      onDone(job);
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setSending(false);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <KindChoice fields={fields} onChange={set} />
      {fields.kind === 'command' ? (
        <CommandField fields={fields} onChange={set} autoFocus={!short} />
      ) : (
        <HandlerFields fields={fields} onChange={set} />
      )}
      <MoreFields fields={fields} onChange={set} open={!short} />
      <p className="problem-text" role="alert">
        {problem}
      </p>
      {'job' in made && <TerminalForms job={made.job} />}
      <div className="dialog-actions">
        <button type="submit" className="primary" disabled={sending}>
          {verb}
        </button>
      </div>
    </form>
  );
}

interface FieldsProps {
  fields: JobFields;
  onChange: (change: Partial<JobFields>) => void;
}

function KindChoice({ fields, onChange }: FieldsProps) {
  return (
    <fieldset className="choice">
      <legend className="visually-hidden">What it runs</legend>
      {(['command', 'handler'] as const).map((kind) => (
        <label key={kind}>
          <input type="radio" name="kind" checked={fields.kind === kind} onChange={() => onChange({ kind })} />
          <span>{kind === 'command' ? 'Command' : 'Handler'}</span>
        </label>
      ))}
    </fieldset>
  );
}

function CommandField({ fields, onChange, autoFocus }: FieldsProps & { autoFocus: boolean }) {
  return (
    <label className="field">
      <span>Command</span>
      <textarea
        name="command"
        rows={3}
        spellCheck={false}
        // biome-ignore lint/a11y/noAutofocus: first field of a dialog that was asked for
        autoFocus={autoFocus}
        placeholder="echo hello"
        value={fields.command}
        onChange={(event) => onChange({ command: event.target.value })}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
        }}
      />
    </label>
  );
}

function HandlerFields({ fields, onChange }: FieldsProps) {
  return (
    <>
      <label className="field">
        <span>Handler</span>
        <input name="handler" value={fields.handler} onChange={(event) => onChange({ handler: event.target.value })} />
      </label>
      <label className="field">
        <span>Input (JSON)</span>
        <textarea
          name="input"
          rows={6}
          spellCheck={false}
          value={fields.input}
          onChange={(event) => onChange({ input: event.target.value })}
        />
      </label>
    </>
  );
}

function MoreFields({ fields, onChange, open }: FieldsProps & { open: boolean }) {
  return (
    <details className="more" open={open}>
      <summary>Options</summary>
      <div className="field-grid">
        <TextField of={NAME} fields={fields} onChange={onChange} />
        <QueueField value={fields.queue} onChange={(queue) => onChange({ queue })} />
        {TEXTS.map((text) => (
          <TextField key={text[0]} of={text} fields={fields} onChange={onChange} />
        ))}
      </div>
    </details>
  );
}

function TextField({ of: [name, label, placeholder], fields, onChange }: FieldsProps & { of: Text }) {
  return (
    <label className={name === 'delay' ? 'field field-wide' : 'field'}>
      <span>{label}</span>
      <input
        name={name}
        placeholder={placeholder}
        value={fields[name]}
        onChange={(event) => onChange({ [name]: event.target.value })}
      />
    </label>
  );
}

function TerminalForms({ job }: { job: JobSubmissionInput }) {
  return (
    <details className="more">
      <summary>CLI command</summary>
      <CopyLine label="Command line" text={asCli(job)} />
      <CopyLine label="curl" text={asCurl(job)} />
    </details>
  );
}
