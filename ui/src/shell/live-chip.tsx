import { useLiveState, useLiveStream } from '../data/live-context.tsx';

const WORDS = {
  connecting: { icon: '◌', text: 'connecting' },
  live: { icon: '●', text: 'live' },
  reconnecting: { icon: '◌', text: 'reconnecting' },
  paused: { icon: '❚❚', text: 'paused' },
} as const;

/** Shows whether the page is live; pressing it pauses and resumes. */
export function LiveChip() {
  const state = useLiveState();
  const stream = useLiveStream();
  const { icon, text } = WORDS[state];
  return (
    <button
      type="button"
      className={`live-chip live-${state}`}
      aria-pressed={state === 'paused'}
      aria-label={state === 'paused' ? 'Updates are paused: resume' : `Updates: ${text}. Pause`}
      title={state === 'paused' ? 'Resume updates (p)' : 'Pause updates (p)'}
      onClick={() => stream.setPaused(state !== 'paused')}
    >
      <span aria-hidden="true">{icon}</span> <span role="status">{text}</span>
    </button>
  );
}
