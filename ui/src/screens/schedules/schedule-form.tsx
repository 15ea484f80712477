import { type FormEvent, useState } from 'react';
import type { Schedule } from '../../../../src/api/schedule.ts';
import { client } from '../../data/client.ts';
import { exactDuration } from '../../words/duration.ts';
import { messageOf } from '../../words/message-of.ts';
import { Preview } from './preview.tsx';
import { editFrom, type Fields, mayEditJob, submissionFrom } from './schedule-fields.ts';

const OVERLAPS = [
  ['skip', 'skip the new one'],
  ['buffer_one', 'let one wait'],
  ['allow', 'run both'],
  ['cancel_other', 'cancel the earlier one'],
] as const;
const CATCHUPS = [
  ['latest', 'the latest'],
  ['all', 'all of them'],
  ['none', 'none'],
] as const;

/** Makes a schedule of a command, or changes when an existing one is due. */
export function ScheduleForm({ existing, onDone }: { existing?: Schedule; onDone: (schedule: Schedule) => void }) {
  const [kind, setKind] = useState<'cron' | 'every'>(existing?.every == null ? 'cron' : 'every');
  const [name, setName] = useState(existing?.name ?? '');
  const [text, setText] = useState(
    existing?.cron ?? (existing?.every == null ? '0 9 * * MON-FRI' : exactDuration(existing.every)),
  );
  const [timezone, setTimezone] = useState(existing?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [command, setCommand] = useState(existing?.job?.command ?? '');
  const [queue, setQueue] = useState(existing?.job?.queue ?? '');
  const [overlap, setOverlap] = useState<Schedule['overlap']>(existing?.overlap ?? 'skip');
  const [catchup, setCatchup] = useState<Schedule['catchup']['policy']>(existing?.catchup.policy ?? 'latest');
  const [problem, setProblem] = useState<string | null>(null);
  const editsJob = existing === undefined || mayEditJob(existing);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const fields: Fields = {
      kind,
      text: text.trim(),
      timezone: timezone.trim() || 'UTC',
      overlap,
      catchup,
      command,
      queue: queue.trim(),
    };
    try {
      const made = await (existing === undefined
        ? client.createSchedule(submissionFrom(name.trim(), fields))
        : client.editSchedule(existing.name, editFrom(existing, fields)));
      onDone(made);
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      {existing === undefined && (
        <label className="field">
          <span>Name</span>
          {/* biome-ignore lint/a11y/noAutofocus: first field of a dialog that was asked for */}
          <input
            name="name"
            autoFocus
            placeholder="nightly-report"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
      )}
      <fieldset className="choice">
        <legend className="visually-hidden">When</legend>
        {(['cron', 'every'] as const).map((each) => (
          <label key={each}>
            <input
              type="radio"
              name="when"
              checked={kind === each}
              onChange={() => {
                setKind(each);
                setText(each === 'cron' ? '0 9 * * MON-FRI' : '15m');
              }}
            />
            <span>{each === 'cron' ? 'By the clock (cron)' : 'Every so often'}</span>
          </label>
        ))}
      </fieldset>
      <div className="field-grid">
        <label className="field">
          <span>{kind === 'cron' ? 'Cron expression' : 'Every'}</span>
          <input
            name="expression"
            spellCheck={false}
            aria-describedby="schedule-preview"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <label className="field">
          <span>Time zone</span>
          <input
            name="timezone"
            spellCheck={false}
            list="zones"
            value={timezone}
            onChange={(event) => setTimezone(event.target.value)}
          />
        </label>
      </div>
      <datalist id="zones">
        {Intl.supportedValuesOf('timeZone').map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <Preview kind={kind} text={text} timezone={timezone} />
      {editsJob && (
        <>
          <label className="field">
            <span>Command</span>
            <textarea
              name="command"
              rows={2}
              spellCheck={false}
              value={command}
              onChange={(event) => setCommand(event.target.value)}
            />
          </label>
          <label className="field">
            <span>Queue</span>
            <input
              name="queue"
              placeholder="default"
              value={queue}
              onChange={(event) => setQueue(event.target.value)}
            />
          </label>
        </>
      )}
      {existing?.job?.command != null && !editsJob && (
        <p className="faint small-text">
          What it runs has values that cannot be read back, so it is changed with <code>workron schedule</code> only.
        </p>
      )}
      <div className="field-grid">
        <Choice
          label="While an earlier run goes on"
          value={overlap}
          options={OVERLAPS}
          onChange={(value) => setOverlap(value as Schedule['overlap'])}
        />
        <Choice
          label="After downtime, catch up"
          value={catchup}
          options={CATCHUPS}
          onChange={(value) => setCatchup(value as typeof catchup)}
        />
      </div>
      <p className="problem-text" role="alert">
        {problem}
      </p>
      <div className="dialog-actions">
        <button type="submit" className="primary">
          {existing === undefined ? 'Create' : 'Save'}
        </button>
      </div>
    </form>
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
