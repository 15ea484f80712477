import { pathOf } from '../../../../src/api/route.ts';
import { routes } from '../../../../src/api/routes.ts';
import { DownloadLink } from '../../parts/download-link.tsx';
import { numberText } from '../../words/count.ts';

export interface LogToolsProps {
  jobId: string;
  attempt: number | null;
  follow: boolean;
  onFollow: (on: boolean) => void;
  wrap: boolean;
  onWrap: (on: boolean) => void;
  times: boolean;
  onTimes: (on: boolean) => void;
  wanted: string;
  onWanted: (text: string) => void;
  matches: number;
  match: number;
  onMatch: (place: number) => void;
}

/** The tools above a log: search, follow, wrap, download. */
export function LogTools(props: LogToolsProps) {
  const { jobId, attempt, follow, onFollow, wrap, onWrap, times, onTimes } = props;
  const { wanted, onWanted, matches, match, onMatch } = props;
  const raw = { path: pathOf(routes.readLogs, { id: jobId }), query: attempt === null ? '' : `?attempt=${attempt}` };
  return (
    <div className="log-tools">
      <label className="field log-search">
        <span className="visually-hidden">Search in the log</span>
        <input
          type="search"
          data-search=""
          placeholder="Search"
          value={wanted}
          onChange={(event) => onWanted(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') onMatch(match + (event.shiftKey ? -1 : 1));
            if (event.key !== 'Escape') return;
            // The browser would clear it, and with it the matches that n and N go through.
            event.preventDefault();
            event.currentTarget.blur();
          }}
        />
      </label>
      {wanted !== '' && (
        <span className="log-matches" role="status">
          {matches === 0 ? 'no match' : `${match + 1} of ${numberText(matches)}`}
        </span>
      )}
      <span className="spacer" />
      <button type="button" className="small" aria-pressed={follow} onClick={() => onFollow(!follow)}>
        Follow
      </button>
      <button type="button" className="small" aria-pressed={wrap} onClick={() => onWrap(!wrap)}>
        Wrap
      </button>
      <button type="button" className="small" aria-pressed={times} onClick={() => onTimes(!times)}>
        Times
      </button>
      <DownloadLink {...raw}>Raw</DownloadLink>
      <DownloadLink {...raw} file={`job-${jobId}${attempt === null ? '' : `-attempt-${attempt}`}.log`}>
        Download
      </DownloadLink>
    </div>
  );
}
