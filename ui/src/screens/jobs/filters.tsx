import { useEffect, useState } from 'react';
import { State } from '../../parts/state.tsx';
import { ALL_STATES } from '../../words/state.ts';
import { FILTER_FIELDS, type FilterField, type JobQuery } from './job-query.ts';

export interface FiltersProps {
  query: JobQuery;
  onChange: (query: JobQuery) => void;
}

const LABELS: Readonly<Record<FilterField, string>> = {
  status: 'state',
  queue: 'queue',
  name: 'name',
  tag: 'tag',
  worker_id: 'worker',
  reason: 'reason',
  from: 'since',
  to: 'until',
  q: 'text',
  workflow_id: 'workflow',
  group_id: 'group',
};

const TYPED: readonly [FilterField, string][] = [
  ['queue', 'exact name'],
  ['name', 'exact name'],
  ['tag', 'one, or several by comma'],
  ['worker_id', 'id'],
  ['reason', 'exit, timeout, lost…'],
  ['from', '2h, or an instant'],
  ['to', '10m, or an instant'],
];
const TYPING_MS = 300;

/** The filters of the list. They are kept in the address, so that a link shows the same list. */
export function Filters({ query, onChange }: FiltersProps) {
  const set = (field: FilterField, value: string): void => {
    const { [field]: _, ...rest } = query;
    onChange(value.trim() === '' ? rest : { ...rest, [field]: value.trim() });
  };
  const others = FILTER_FIELDS.filter((field) => query[field] !== undefined && field !== 'status' && field !== 'q');
  return (
    <search className="filters">
      <StateFilter chosen={query.status?.split(',') ?? []} onChange={(states) => set('status', states.join(','))} />
      <div className="filter-line">
        <Typed
          label="Text in name, command, input or error"
          value={query.q ?? ''}
          onChange={(value) => set('q', value)}
          search
        />
        <details className="filter-more">
          <summary>Filter</summary>
          <div className="field-grid filter-fields">
            {TYPED.map(([field, hint]) => (
              <Typed
                key={field}
                label={LABELS[field]}
                hint={hint}
                value={query[field] ?? ''}
                onChange={(value) => set(field, value)}
              />
            ))}
          </div>
        </details>
        {others.map((field) => (
          <button
            key={field}
            type="button"
            className="chip"
            aria-label={`Remove filter ${LABELS[field]} ${query[field]}`}
            onClick={() => set(field, '')}
          >
            {LABELS[field]}: <bdi>{query[field]}</bdi> <span aria-hidden="true">×</span>
          </button>
        ))}
        {Object.keys(query).length > 0 && (
          <button type="button" className="plain" onClick={() => onChange({})}>
            Clear all
          </button>
        )}
      </div>
    </search>
  );
}

interface StateFilterProps {
  chosen: readonly string[];
  onChange: (states: readonly string[]) => void;
}

function StateFilter({ chosen, onChange }: StateFilterProps) {
  return (
    <div className="state-filter" role="group" aria-label="States">
      {ALL_STATES.map((state) => {
        const on = chosen.includes(state);
        const next = on ? chosen.filter((each) => each !== state) : [...chosen, state];
        return (
          <button key={state} type="button" aria-pressed={on} onClick={() => onChange(next)}>
            <State of={state} />
          </button>
        );
      })}
    </div>
  );
}

interface TypedProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
  search?: boolean;
}

/** A field whose value applies shortly after the last key. */
function Typed({ label, value, onChange, hint, search = false }: TypedProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => onChange(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  return (
    <label className="field">
      <span className={search ? 'visually-hidden' : undefined}>{label}</span>
      <input
        type="search"
        value={text}
        placeholder={search ? label : hint}
        {...(search ? { 'data-search': '' } : {})}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onChange(text);
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
    </label>
  );
}
