import { useLiveCounts } from '../../data/live-context.tsx';
import { State } from '../../parts/state.tsx';
import { compactText } from '../../words/count.ts';
import { ALL_STATES } from '../../words/state.ts';
import { FilterField } from './filter-field.tsx';
import type { JobQuery } from './job-query.ts';

export interface FiltersProps {
  query: JobQuery;
  onChange: (query: JobQuery) => void;
}

/** The filters of the list. They are kept in the address, so that a link shows the same list. */
export function Filters({ query, onChange }: FiltersProps) {
  const { status, ...others } = query;
  const { group_id, ...rest } = query;
  const set = (states: readonly string[]): void =>
    onChange(states.length === 0 ? others : { ...others, status: states.join(',') });
  return (
    <search className="filters">
      <div className="filter-line">
        <FilterField query={query} onChange={onChange} />
        {group_id !== undefined && (
          <button
            type="button"
            className="chip"
            aria-label={`Remove filter for_each step ${group_id}`}
            onClick={() => onChange(rest)}
          >
            items of {group_id} <span aria-hidden="true">×</span>
          </button>
        )}
        {Object.keys(query).length > 0 && (
          <button type="button" className="plain" onClick={() => onChange({})}>
            Clear
          </button>
        )}
      </div>
      <StateFilter chosen={status?.split(',') ?? []} counted={Object.keys(others).length === 0} onChange={set} />
    </search>
  );
}

interface StateFilterProps {
  chosen: readonly string[];
  /** Whether the counts of all jobs are those of this list. */
  counted: boolean;
  onChange: (states: readonly string[]) => void;
}

function StateFilter({ chosen, counted, onChange }: StateFilterProps) {
  const live = useLiveCounts();
  return (
    <div className="state-filter" role="group" aria-label="States">
      {ALL_STATES.map((state) => {
        const on = chosen.includes(state);
        const next = on ? chosen.filter((each) => each !== state) : [...chosen, state];
        const count = counted ? live?.[state as keyof typeof live] : undefined;
        return (
          <button key={state} type="button" aria-pressed={on} onClick={() => onChange(next)}>
            <State of={state} />
            {count !== undefined && <span className="view-count">{compactText(count)}</span>}
          </button>
        );
      })}
    </div>
  );
}
