import { useQuery } from '@tanstack/react-query';
import { client } from '../data/client.ts';
import { useMay } from '../data/use-may.ts';
import { useToasts } from '../parts/toasts.tsx';
import { messageOf } from '../words/message-of.ts';
import { visibleLine } from '../words/visible-text.ts';

const VERBS = ['run', 'pause', 'resume', 'drain', 'undrain'] as const;
type Verb = (typeof VERBS)[number];

export interface PaletteAction {
  key: string;
  title: string;
  hint: string;
  run: () => void;
}

interface Target {
  kind: 'schedule' | 'queue' | 'worker';
  name: string;
  /** The queues that its runs need. */
  queues?: readonly string[];
  act: () => Promise<unknown>;
}

const MAX_FOUND = 8;

/** `pause nightly` finds what can be paused and has `nightly` in its name; likewise run, resume, drain and undrain. */
export function usePaletteActions(wanted: string): PaletteAction[] {
  const toasts = useToasts();
  const may = useMay();
  const [first = '', ...rest] = wanted.toLowerCase().split(/\s+/);
  const verb = VERBS.find((each) => each === first);
  const scope = verb === 'run' ? 'submit' : 'operate';
  const allowed = verb !== undefined && may(scope);
  const { data = [] } = useQuery({
    queryKey: ['palette', 'targets', verb],
    enabled: allowed,
    queryFn: ({ signal }) => targetsOf(verb as Verb, signal),
    select: (targets) => targets.filter(({ queues = [] }) => may(scope, ...queues)),
  });
  if (verb === undefined || !allowed) return [];
  const text = rest.join(' ');
  const act = async ({ kind, name, act: run }: Target): Promise<void> => {
    try {
      await run();
      toasts.show({ kind: 'good', text: `${capital(verb)}: ${kind} ${visibleLine(name)}` });
    } catch (error) {
      toasts.show({ kind: 'bad', text: messageOf(error) });
    }
  };
  return data
    .filter(({ name }) => name.toLowerCase().includes(text))
    .slice(0, MAX_FOUND)
    .map((target) => ({
      key: `${verb} ${target.kind} ${target.name}`,
      title: `${capital(verb)} ${target.kind} ${visibleLine(target.name)}`,
      hint: 'action',
      run: () => void act(target),
    }));
}

/** What the verb can be done to now. */
async function targetsOf(verb: Verb, signal: AbortSignal): Promise<Target[]> {
  if (verb === 'drain' || verb === 'undrain') {
    const state = verb === 'drain' ? 'online' : 'draining';
    return (await Array.fromAsync(client.listWorkers({ signal })))
      .filter((worker) => worker.state === state)
      .map(({ id, name }) => ({
        kind: 'worker',
        name,
        act: () => (verb === 'drain' ? client.drainWorker(id) : client.undrainWorker(id)),
      }));
  }
  const { items } = await client.listSchedules({ limit: 200 }, { signal });
  if (verb === 'run') {
    return items.map(({ name, queues }) => ({ kind: 'schedule', name, queues, act: () => client.runSchedule(name) }));
  }
  const paused = verb === 'resume';
  const queues = (await Array.fromAsync(client.listQueues({ signal }))).filter((queue) => queue.paused === paused);
  return [
    ...items
      .filter(({ paused_at }) => (paused_at !== null) === paused)
      .map(({ name }): Target => {
        return {
          kind: 'schedule',
          name,
          act: () => (paused ? client.resumeSchedule(name) : client.pauseSchedule(name)),
        };
      }),
    ...queues.map(
      ({ name }): Target => ({ kind: 'queue', name, act: () => client.editQueue(name, { paused: !paused }) }),
    ),
  ];
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
