import { type FormEvent, useState } from 'react';
import type { Queue, QueueEditInput } from '../../../../src/api/queue.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { shellQuote, workron } from '../../words/as-command.ts';
import { rateFrom, rateText } from '../../words/rate.ts';
import { visibleLine } from '../../words/visible-text.ts';

/** Sets how many jobs of a queue run at once, and how many start in a while. */
export function LimitDialog({ queue, onClose }: { queue: Queue; onClose: () => void }) {
  const [text, setText] = useState(queue.max_running === null ? '' : String(queue.max_running));
  const [per, setPer] = useState(queue.rate === null ? '' : rateText(queue.rate));
  const limit = text.trim() === '' ? null : Number(text);
  const rate = per.trim() === '' ? null : rateFrom(per);
  const set = useAction({
    run: (edit: QueueEditInput) => client.editQueue(queue.name, edit),
    done: (after) => {
      const running = after.max_running === null ? 'has no limit' : `runs at most ${after.max_running} at once`;
      const starts = after.rate === null ? '' : `, and starts ${rateText(after.rate)}`;
      return `Queue ${after.name} ${running}${starts}`;
    },
    after: onClose,
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    set.run({ max_running: limit, rate });
  };
  const isReady = /^\s*\d*\s*$/.test(text) && (per.trim() === '' || rate !== null);
  return (
    <Dialog title={`Limit of ${visibleLine(queue.name)}`} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <label className="field">
          <span>Maximum running jobs, over all workers (max_running); empty for no limit</span>
          {/* biome-ignore lint/a11y/noAutofocus: the first field of the dialog */}
          <input inputMode="numeric" autoFocus value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        <label className="field">
          <span>Rate: maximum starts per period, such as 100/1m, or 100/1m+20 with a burst; empty for none</span>
          <input value={per} onChange={(event) => setPer(event.target.value)} />
        </label>
        {isReady && <CopyLine label="CLI command" text={commandOf(queue.name, { limit, rate })} />}
        <div className="dialog-actions">
          <button type="submit" className="primary" disabled={set.running || !isReady}>
            Set
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function commandOf(name: string, { limit, rate }: { limit: number | null; rate: ReturnType<typeof rateFrom> }): string {
  const starts = rate === null ? '--rate none' : `--rate ${shellQuote(`${rate.limit}/${rate.per}`)}`;
  const burst = rate === null || rate.burst === 0 ? '' : ` --burst ${rate.burst}`;
  return workron(`queues set ${shellQuote(name)} --max-running ${limit ?? 'none'} ${starts}${burst}`);
}
