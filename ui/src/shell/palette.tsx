import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useLocation } from 'wouter';
import { client } from '../data/client.ts';
import { listDefinitions } from '../data/definitions.ts';
import { useMay } from '../data/use-may.ts';
import { Dialog } from '../parts/dialog.tsx';
import { State } from '../parts/state.tsx';
import { jobTitle } from '../words/job-title.ts';
import { queuePath } from '../words/queue-path.ts';
import { visibleLine } from '../words/visible-text.ts';
import type { Place } from './places.ts';
import { nextTheme } from './theme.ts';
import { usePaletteActions } from './use-palette-actions.ts';
import { usePlaces } from './use-places.ts';

interface Entry {
  key: string;
  title: string;
  hint: string;
  state?: string;
  run: () => void;
}

/** Ctrl-K: opens a screen, finds anything by name, runs an action. */
export function Palette({ onClose, onNewJob }: { onClose: () => void; onNewJob: () => void }) {
  const [text, setText] = useState('');
  const [index, setIndex] = useState(0);
  const [, go] = useLocation();
  const id = useId();
  const wanted = text.trim();
  const actions = usePaletteActions(wanted);
  const found = [...actions, ...useFound(wanted, go)];
  const places = usePlaces();
  const onSubmit = useMay()('submit') ? onNewJob : undefined;
  const entries = entriesFor(wanted, found, { places, go, onNewJob: onSubmit });
  const chosen = Math.min(index, entries.length - 1);
  const choose = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        role="combobox"
        aria-label="Search or go to"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={`${id}-${chosen}`}
        aria-autocomplete="list"
        // biome-ignore lint/a11y/noAutofocus: the user has opened it
        autoFocus
        placeholder="A job, schedule, workflow, queue or worker; a screen, an action…"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setIndex(0);
        }}
        onKeyDown={(event) => {
          const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (by !== undefined) {
            event.preventDefault();
            setIndex((chosen + by + entries.length) % entries.length);
          }
          if (event.key === 'Enter') choose(entries[chosen]);
        }}
      />
      <div className="palette-list" role="listbox" id={`${id}-list`} aria-label="Found">
        {entries.map((entry, place) => (
          <PaletteOption
            key={entry.key}
            id={`${id}-${place}`}
            entry={entry}
            chosen={place === chosen}
            onChoose={() => choose(entry)}
            onPoint={() => setIndex(place)}
          />
        ))}
      </div>
    </Dialog>
  );
}

interface PaletteOptionProps {
  id: string;
  entry: Entry;
  chosen: boolean;
  onChoose: () => void;
  onPoint: () => void;
}

function PaletteOption({ id, entry, chosen, onChoose, onPoint }: PaletteOptionProps) {
  return (
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={chosen}
      className="palette-entry"
      onClick={onChoose}
      onKeyDown={() => undefined}
      onMouseMove={onPoint}
    >
      {entry.state !== undefined && <State of={entry.state} quiet />}
      <span className="palette-title">
        <bdi>{entry.title}</bdi>
      </span>
      <span className="faint">{entry.hint}</span>
    </div>
  );
}

interface PaletteActions {
  places: readonly Place[];
  go: (path: string) => void;
  /** `undefined` if the user may not submit. */
  onNewJob: (() => void) | undefined;
}

function entriesFor(wanted: string, found: readonly Entry[], { places, go, onNewJob }: PaletteActions): Entry[] {
  const fixed: Entry[] = [
    ...(onNewJob === undefined ? [] : [{ key: 'new', title: 'New job', hint: 'n', run: onNewJob }]),
    ...places.map(({ path, title, key }) => ({
      key: path,
      title: `Go to ${title}`,
      hint: `g ${key}`,
      run: () => go(path),
    })),
    { key: 'failed', title: 'Failed jobs', hint: 'filter', run: () => go('/jobs?status=failed') },
    { key: 'theme', title: 'Switch between light and dark', hint: 't', run: nextTheme },
  ];
  const lower = wanted.toLowerCase();
  // Results of the server arrive later and go below, so that the entry that Enter chooses does not change by itself.
  const entries = [...byId(wanted, go), ...fixed.filter(({ title }) => title.toLowerCase().includes(lower)), ...found];
  if (wanted !== '') {
    entries.push({
      key: 'search',
      title: `Jobs with “${wanted}” in name, command or error`,
      hint: 'search',
      run: () => go(`/jobs?q=${encodeURIComponent(wanted)}`),
    });
  }
  return entries;
}

/** A number is the id of a job or a workflow. */
function byId(wanted: string, go: (path: string) => void): Entry[] {
  const id = /^#?(\d+)$/.exec(wanted)?.[1];
  if (id === undefined) return [];
  return [
    { key: 'job', title: `Job ${id}`, hint: 'go', run: () => go(`/jobs/${id}`) },
    { key: 'workflow', title: `Workflow ${id}`, hint: 'go', run: () => go(`/workflows/${id}`) },
  ];
}

const MAX_EACH = 5;

/** Schedules, queues, workers, stored workflows and runs of workflows by name, and the newest jobs that contain the text. */
function useFound(wanted: string, go: (path: string) => void): Entry[] {
  const query = useQuery({
    queryKey: ['palette', wanted],
    enabled: wanted !== '',
    queryFn: async ({ signal }): Promise<Entry[]> => {
      const lower = wanted.toLowerCase();
      const has = ({ name }: { name: string }): boolean => name.toLowerCase().includes(lower);
      const to = (key: string, title: string, hint: string, path: string): Entry => ({
        key,
        title: visibleLine(title),
        hint,
        run: () => go(path),
      });
      const [schedules, queues, workers, definitions, workflows, jobs] = await Promise.all([
        client.listSchedules({ q: lower.slice(0, 128), limit: MAX_EACH }, { signal }).catch(() => ({ items: [] })),
        Array.fromAsync(client.listQueues({ signal })),
        Array.fromAsync(client.listWorkers({ signal })),
        listDefinitions(signal),
        client.listWorkflows({ limit: 100 }, { signal }),
        client.listJobs({ q: wanted, limit: 8 }, { signal }),
      ]);
      return [
        ...schedules.items.map(({ name }) => to(`schedule-${name}`, name, 'schedule', `/schedules/${name}`)),
        ...definitions.items
          .filter(has)
          .slice(0, MAX_EACH)
          .map(({ name }) => to(`definition-${name}`, name, 'stored workflow', `/definitions/${name}`)),
        ...workflows.items
          .filter(has)
          .slice(0, MAX_EACH)
          .map(({ id, name, status }) => ({
            ...to(`workflow-${id}`, name, `workflow ${id}`, `/workflows/${id}`),
            state: status,
          })),
        ...queues
          .filter(has)
          .slice(0, MAX_EACH)
          .map(({ name }) => to(`queue-${name}`, name, 'queue', queuePath(name))),
        ...workers
          .filter(has)
          .slice(0, MAX_EACH)
          .map(({ id, name, state }) => ({ ...to(`worker-${id}`, name, 'worker', `/jobs?worker_id=${id}`), state })),
        ...jobs.items.map((job) => ({
          ...to(`job-${job.id}`, jobTitle(job), `job ${job.id}`, `/jobs/${job.id}`),
          state: job.status,
        })),
      ];
    },
  });
  return wanted === '' ? [] : (query.data ?? []);
}
