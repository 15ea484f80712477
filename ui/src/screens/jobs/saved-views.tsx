import { useState } from 'react';
import { useStored } from '../../data/use-stored.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { type JobQuery, queryFrom, searchFrom } from './job-query.ts';

interface View {
  name: string;
  search: string;
}

const GIVEN: readonly View[] = [
  { name: 'All', search: '' },
  { name: 'Active', search: 'status=running%2Cpending' },
  { name: 'Waiting', search: 'status=blocked%2Cscheduled%2Cpending' },
];

/** Named filters, kept in this browser. */
export function SavedViews({ query, onChange }: { query: JobQuery; onChange: (query: JobQuery) => void }) {
  const [views, setViews] = useStored<View[]>('views', []);
  const [naming, setNaming] = useState(false);
  const search = searchFrom(query).toString();
  const known = [...GIVEN, ...views].some((view) => view.search === search);
  const own = views.find((view) => view.search === search);
  return (
    <div className="views" role="group" aria-label="Views">
      {[...GIVEN, ...views].map((view) => (
        <button
          key={`${view.name} ${view.search}`}
          type="button"
          className="view"
          aria-pressed={view.search === search}
          onClick={() => onChange(queryFrom(new URLSearchParams(view.search)))}
        >
          {view.name}
        </button>
      ))}
      {!known && (
        <button type="button" className="plain" onClick={() => setNaming(true)}>
          Save view
        </button>
      )}
      {own !== undefined && (
        <button type="button" className="plain" onClick={() => setViews(views.filter((view) => view !== own))}>
          Forget “{own.name}”
        </button>
      )}
      {naming && (
        <NameView
          onClose={() => setNaming(false)}
          onName={(name) => setViews([...views.filter((view) => view.name !== name), { name, search }])}
        />
      )}
    </div>
  );
}

function NameView({ onName, onClose }: { onName: (name: string) => void; onClose: () => void }) {
  const [name, setName] = useState('');
  return (
    <Dialog title="Save this view" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() === '') return;
          onName(name.trim());
          onClose();
        }}
      >
        <label className="field">
          <span>Name</span>
          {/* biome-ignore lint/a11y/noAutofocus: the dialog's only field */}
          <input autoFocus value={name} maxLength={40} onChange={(event) => setName(event.target.value)} />
        </label>
        <div className="dialog-actions">
          <button type="submit" className="primary">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
