import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { useStored } from '../../data/use-stored.ts';
import { useKeys } from '../../parts/keyboard.ts';
import { LogText } from './log-text.tsx';
import { LogTools } from './log-tools.tsx';
import { useLog } from './use-log.ts';
import { useSearch } from './use-search.ts';

const LINE_HEIGHT = 20;

export interface LogViewProps {
  jobId: string;
  attempt: number | null;
  /** Of the last attempt: rises when the job was retried, so that the log is read on. */
  again: number;
  running: boolean;
}

/** The log, live: follows its end, can be searched, wrapped, and linked to by line. */
export function LogView({ jobId, attempt, again, running }: LogViewProps) {
  const { lines, version, ended, problem } = useLog(jobId, attempt, again);
  const linked = linkedLine();
  const [follow, setFollow] = useState(linked === null);
  const [wrap, setWrap] = useStored('log.wrap', false);
  const [wanted, setWanted] = useState('');
  const [match, setMatch] = useState(0);
  const [marked, setMarked] = useState(linked);
  const scroller = useRef<HTMLDivElement>(null);
  const matches = useSearch(lines, version, wanted);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  });
  useEffect(() => virtual.measure(), [wrap, virtual]);
  useEffect(() => {
    if (follow && lines.length > 0) virtual.scrollToIndex(lines.length - 1, { align: 'end' });
  }, [follow, lines, version, virtual]);
  // The line of the address, as soon as it is there.
  const [jumped, setJumped] = useState(linked === null);
  useEffect(() => {
    if (jumped || linked === null || lines.length < linked) return;
    setJumped(true);
    virtual.scrollToIndex(linked - 1, { align: 'center' });
  }, [jumped, linked, lines, version, virtual]);

  const goTo = (place: number): void => {
    if (matches.length === 0) return;
    const next = (place + matches.length) % matches.length;
    setFollow(false);
    setMatch(next);
    const line = matches[next] ?? 0;
    virtual.scrollToIndex(line, { align: 'center' });
    // So that the link to a line is at hand without a pointer.
    setMarked(line + 1);
    history.replaceState(null, '', `#L${line + 1}`);
  };
  useKeys({
    f: () => setFollow(!follow),
    w: () => setWrap(!wrap),
    G: () => setFollow(true),
    'g g': () => {
      setFollow(false);
      virtual.scrollToIndex(0);
    },
    n: () => goTo(match + 1),
    N: () => goTo(match - 1),
  });
  const rows = virtual.getVirtualItems();
  return (
    <section className="log" aria-label="Log">
      <LogTools
        jobId={jobId}
        attempt={attempt}
        follow={follow}
        onFollow={setFollow}
        wrap={wrap}
        onWrap={setWrap}
        wanted={wanted}
        onWanted={(text) => {
          setWanted(text);
          setMatch(0);
        }}
        matches={matches.length}
        match={match}
        onMatch={goTo}
      />
      {problem !== null && <p className="note note-bad">{problem}</p>}
      <div
        ref={scroller}
        className={wrap ? 'log-scroll log-wrap' : 'log-scroll'}
        role="log"
        aria-live="off"
        aria-label="Output"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        tabIndex={0}
        onWheel={(event) => {
          if (event.deltaY < 0) setFollow(false);
        }}
        onKeyDown={(event) => {
          if (['ArrowUp', 'PageUp', 'Home'].includes(event.key)) setFollow(false);
          if (event.key === 'End') setFollow(true);
        }}
      >
        {lines.length === 0 ? (
          <p className="log-empty">
            {ended ? 'It printed nothing.' : running ? 'Nothing printed yet…' : 'Not started yet.'}
          </p>
        ) : (
          <div className="log-space" style={{ height: virtual.getTotalSize() }}>
            {rows.map(({ index, start, key }) => {
              const line = lines.at(index);
              const number = index + 1;
              return (
                <div
                  key={key}
                  ref={wrap ? virtual.measureElement : undefined}
                  data-index={index}
                  className={number === marked ? 'log-line log-line-marked' : 'log-line'}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <a
                    className="log-number"
                    href={`#L${number}`}
                    tabIndex={-1}
                    aria-label={`Link to line ${number}`}
                    onClick={() => setMarked(number)}
                  >
                    {number}
                  </a>
                  <span className="log-text">{line !== undefined && <LogText line={line} mark={wanted} />}</span>
                </div>
              );
            })}
          </div>
        )}
      </div>
      {!follow && running && (
        <button type="button" className="follow-pill" onClick={() => setFollow(true)}>
          ↓ Follow
        </button>
      )}
    </section>
  );
}

function linkedLine(): number | null {
  const number = /^#L(\d{1,9})$/.exec(location.hash)?.[1];
  return number === undefined ? null : Number(number);
}
