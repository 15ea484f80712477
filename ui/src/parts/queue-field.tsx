import { useSession } from '../data/use-may.ts';

interface QueueFieldProps {
  value: string;
  onChange: (queue: string) => void;
}

/** The queue of a job: any, or one of those that the user is restricted to. */
export function QueueField({ value, onChange }: QueueFieldProps) {
  const queues = useSession()?.queues ?? null;
  return (
    <label className="field">
      <span>Queue</span>
      {queues === null ? (
        <input name="queue" placeholder="default" value={value} onChange={(event) => onChange(event.target.value)} />
      ) : (
        <select name="queue" value={value} onChange={(event) => onChange(event.target.value)}>
          {queues.map((queue) => (
            <option key={queue}>{queue}</option>
          ))}
        </select>
      )}
    </label>
  );
}

/** Returns the queue that a form starts with: the wanted one, or one that the user may submit to. */
export function useFirstQueue(): (wanted: string) => string {
  const queues = useSession()?.queues ?? null;
  return (wanted) => {
    if (queues === null) return wanted;
    const named = wanted === '' ? 'default' : wanted;
    return queues.includes(named) ? named : (queues[0] ?? '');
  };
}
