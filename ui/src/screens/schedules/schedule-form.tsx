import { type FormEvent, useState } from 'react';
import type { Schedule } from '../../../../src/api/schedule.ts';
import type { Definition } from '../../../../src/api/workflow/stored.ts';
import { client } from '../../data/client.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { givenParams } from '../../parts/param-fields.tsx';
import { useFirstQueue } from '../../parts/queue-field.tsx';
import { messageOf } from '../../words/message-of.ts';
import { cliOf, editFrom, type Fields, fieldsFrom, submissionFrom } from './schedule-fields.ts';
import { StoredFields, useStored } from './stored-fields.tsx';
import { TargetFields } from './target-fields.tsx';
import { type FieldsProps, WhenFields } from './when-fields.tsx';

const OVERLAPS = [
  ['skip', 'skip the new run'],
  ['buffer_one', 'queue one run'],
  ['allow', 'run both'],
  ['cancel_other', 'cancel the earlier run'],
] as const;
const CATCHUPS = [
  ['latest', 'the latest'],
  ['all', 'all of them'],
  ['none', 'none'],
] as const;

/** Creates a schedule, or edits its timing, its target and its keys. */
export function ScheduleForm({ existing, onDone }: { existing?: Schedule; onDone: (schedule: Schedule) => void }) {
  const [name, setName] = useState(existing?.name ?? '');
  const firstQueue = useFirstQueue();
  const [fields, setFields] = useState<Fields>(() => {
    const initial = fieldsFrom(existing);
    return { ...initial, queue: firstQueue(initial.queue) };
  });
  const definition = useStored(fields);
  const params = definition.data?.params ?? [];
  const wanted = definition.data === undefined ? fields : withParamsOf(fields, params);
  const cli = cliOf(existing?.name ?? name.trim(), wanted, existing !== undefined, params);
  const [problem, setProblem] = useState<string | null>(null);
  const [sending, setSending] = useState(false);
  const change = (some: Partial<Fields>): void => setFields((before) => ({ ...before, ...some }));
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setSending(true);
    try {
      onDone(
        existing === undefined
          ? await client.createSchedule(await submissionFrom(name.trim(), wanted))
          : await client.editSchedule(existing.name, await editFrom(existing, wanted)),
      );
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setSending(false);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      {existing === undefined && <NameField value={name} onChange={setName} />}
      <WhenFields fields={fields} onChange={change} />
      <TargetFields fields={fields} onChange={change} existing={existing} />
      {fields.target === 'stored' && (
        <StoredFields fields={fields} onChange={change} definition={definition.data} error={definition.error} />
      )}
      <KeysField fields={fields} onChange={change} />
      <PolicyFields fields={fields} onChange={change} />
      <p className="problem-text" role="alert">
        {problem}
      </p>
      {cli !== null && <CopyLine label="CLI command" text={cli} />}
      <div className="dialog-actions">
        <button
          type="submit"
          className="primary"
          disabled={sending || definition.isLoading || definition.isPlaceholderData}
        >
          {existing === undefined ? 'Create' : 'Save'}
        </button>
      </div>
    </form>
  );
}

/** Values of parameters that the chosen version does not have stay typed, and are not sent. */
function withParamsOf(fields: Fields, params: Definition['params']): Fields {
  return { ...fields, stored: { ...fields.stored, params: givenParams(params, fields.stored.params) } };
}

function NameField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <label className="field">
      <span>Name</span>
      {/* biome-ignore lint/a11y/noAutofocus: first field of a dialog that was asked for */}
      <input
        name="name"
        autoFocus
        placeholder="nightly-report"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}

function KeysField({ fields, onChange }: FieldsProps) {
  return (
    <label className="field">
      <span>Run for each of these keys (one per line; empty: one run)</span>
      <textarea
        name="keys"
        rows={2}
        spellCheck={false}
        placeholder={'berlin\nlyon'}
        value={fields.keys}
        onChange={(event) => onChange({ keys: event.target.value })}
      />
    </label>
  );
}

function PolicyFields({ fields, onChange }: FieldsProps) {
  return (
    <div className="field-grid">
      <Choice
        label="If an earlier run has not ended"
        value={fields.overlap}
        options={OVERLAPS}
        onChange={(value) => onChange({ overlap: value as Fields['overlap'] })}
      />
      <Choice
        label="After downtime, catch up"
        value={fields.catchup}
        options={CATCHUPS}
        onChange={(value) => onChange({ catchup: value as Fields['catchup'] })}
      />
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map(([key, words]) => (
          <option key={key} value={key}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
