import { type FormEvent, useState } from 'react';
import type { Limit } from '../../../../src/api/capacity.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { shellQuote, workron } from '../../words/as-command.ts';
import { countText } from '../../words/count.ts';
import { visibleLine } from '../../words/visible-text.ts';

/** Sets the limit of a key for all jobs; `null`: of a key that is yet to be named. */
export function KeyDialog({ limit, onClose }: { limit: Limit | null; onClose: () => void }) {
  const [key, setKey] = useState(limit?.key ?? '');
  const [text, setText] = useState(String(limit?.max ?? ''));
  const set = useAction({
    run: () => client.setLimit(key, { max: Number(text) }),
    done: () => `At most ${countText(Number(text), 'job')} with key ${key} at once`,
    after: onClose,
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    set.run();
  };
  const isReady = key.trim() !== '' && /^\s*\d+\s*$/.test(text);
  return (
    <Dialog title={limit === null ? 'Limit of a key' : `Limit of ${visibleLine(limit.key)}`} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        {limit === null && (
          <label className="field">
            <span>Key, such as customer:42</span>
            <input value={key} onChange={(event) => setKey(event.target.value)} />
          </label>
        )}
        <label className="field">
          <span>Maximum running jobs with this key, over all workers; overrides the limits of the jobs</span>
          <input inputMode="numeric" value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        {isReady && (
          <CopyLine label="CLI command" text={workron(`limits set ${shellQuote(key)} --max ${Number(text)}`)} />
        )}
        <div className="dialog-actions">
          <button type="submit" className="primary" disabled={set.running || !isReady}>
            Set
          </button>
        </div>
      </form>
    </Dialog>
  );
}
