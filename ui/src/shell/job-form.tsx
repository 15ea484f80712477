import { type FormEvent, useState } from 'react';
import type { SubmittedJob } from '../../../src/api/job.ts';
import type { JobSubmissionInput } from '../../../src/api/job-submission.ts';
import { client } from '../data/client.ts';
import { API_URL } from '../data/place.ts';
import { CopyLine } from '../parts/copy.tsx';
import { asCli, asCurl } from '../words/as-command.ts';
import { messageOf } from '../words/message-of.ts';
import { fieldsFrom, type JobFields, submissionFrom } from './job-fields.ts';

export interface JobFormProps {
  start: JobSubmissionInput;
  verb: string;
  onDone: (job: SubmittedJob) => void;
  /** Only the command and the button; the rest can be unfolded. */
  short?: boolean;
}

/** Submits a job, a command or a handler with its input, and shows the same for the terminal as it is typed. */
export function JobForm({ start, verb, onDone, short = false }: JobFormProps) {
  const [fields, setFields] = useState<JobFields>(() => fieldsFrom(start));
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
      <fieldset className="choice">
        <legend className="visually-hidden">What it runs</legend>
        {(['command', 'handler'] as const).map((kind) => (
          <label key={kind}>
            <input type="radio" name="kind" checked={fields.kind === kind} onChange={() => set({ kind })} />
            <span>{kind === 'command' ? 'Command' : 'Handler'}</span>
          </label>
        ))}
      </fieldset>
      {fields.kind === 'command' ? (
        <label className="field">
          <span>Command</span>
          <textarea
            name="command"
            rows={3}
            spellCheck={false}
            // biome-ignore lint/a11y/noAutofocus: first field of a dialog that was asked for
            autoFocus={!short}
            placeholder="echo hello"
            value={fields.command}
            onChange={(event) => set({ command: event.target.value })}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
            }}
          />
        </label>
      ) : (
        <>
          <label className="field">
            <span>Handler</span>
            <input name="handler" value={fields.handler} onChange={(event) => set({ handler: event.target.value })} />
          </label>
          <label className="field">
            <span>Input (JSON)</span>
            <textarea
              name="input"
              rows={6}
              spellCheck={false}
              value={fields.input}
              onChange={(event) => set({ input: event.target.value })}
            />
          </label>
        </>
      )}
      <details className="more" open={!short}>
        <summary>Name, queue, time and tries</summary>
        <div className="field-grid">
          {TEXTS.map(([name, label, placeholder]) => (
            <label key={name} className="field">
              <span>{label}</span>
              <input
                name={name}
                placeholder={placeholder}
                value={fields[name]}
                onChange={(event) => set({ [name]: event.target.value })}
              />
            </label>
          ))}
        </div>
      </details>
      <p className="problem-text" role="alert">
        {problem}
      </p>
      {'job' in made && (
        <details className="more">
          <summary>The same for the terminal</summary>
          {asCli(made.job) !== null && <CopyLine label="Command line" text={asCli(made.job) ?? ''} />}
          <CopyLine label="curl" text={asCurl(made.job, API_URL)} />
        </details>
      )}
      <div className="dialog-actions">
        <button type="submit" className="primary" disabled={sending}>
          {verb}
        </button>
      </div>
    </form>
  );
}

const TEXTS = [
  ['name', 'Name', 'what people call it'],
  ['queue', 'Queue', 'default'],
  ['priority', 'Priority', '0'],
  ['delay', 'Not before', 'in 10m, or 2026-01-31T09:00:00Z'],
  ['timeout', 'Timeout', '5m'],
  ['maxAttempts', 'Attempts', '3'],
  ['tags', 'Tags', 'eu, nightly'],
] as const satisfies readonly [keyof JobFields, string, string][];
