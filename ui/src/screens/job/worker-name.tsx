import { Link } from 'wouter';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { visibleLine } from '../../words/visible-text.ts';

/** The names of the workers that are still known, by id. */
export function useWorkerNames(): ReadonlyMap<string, string> {
  const workers = useLive({
    key: ['workers'],
    about: { topics: ['workers'] },
    fetch: (signal) => Array.fromAsync(client.listWorkers({ signal })),
  });
  return new Map((workers.data ?? []).map(({ id, name }) => [id, visibleLine(name)]));
}

/** The name of a worker that is still known, else its id, with a link to its jobs. */
export function WorkerName({ id }: { id: string }) {
  const name = useWorkerNames().get(id);
  return (
    <Link href={`/jobs?worker_id=${id}`}>
      <bdi>{name ?? `worker ${id}`}</bdi>
    </Link>
  );
}
