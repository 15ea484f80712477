import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { May } from '../../parts/may.tsx';
import { countText, numberText } from '../../words/count.ts';
import type { ListState } from './job-pages.ts';
import { bulkFilterFrom, type JobQuery } from './job-query.ts';

/** The number of jobs in the list, as far as it is known. All of them are counted on demand: there may be millions. */
export function Total({ state, query }: { state: ListState; query: JobQuery }) {
  const count = useAction({
    run: () => client.bulkJobs({ action: 'retry', filter: bulkFilterFrom(query), dry_run: true }),
    done: ({ total }) => countText(total, 'job matches', 'jobs match'),
  });
  if (state.loading || state.length === 0) return null;
  if (state.complete) return <span className="faint">{countText(state.length, 'job')}</span>;
  return (
    <span className="faint">
      {numberText(state.length)}+ jobs{' '}
      <May scope="operate">
        <button type="button" className="link" disabled={count.running} onClick={() => count.run()}>
          Show total
        </button>
      </May>
    </span>
  );
}
