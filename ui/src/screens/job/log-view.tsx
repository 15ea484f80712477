import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { useStored } from '../../data/use-stored.ts';
import { useKeys } from '../../parts/keyboard.ts';
import { Loading } from '../../parts/notes.tsx';
import { exactInstant, secondText } from '../../words/instant.ts';
import { hasEnded } from '../../words/state.ts';
import type { LogLines } from './log-lines.ts';
import { LogText } from './log-text.tsx';
import { LogTools } from './log-tools.tsx';
import { useLog } from './use-log.ts';
import { useSearch } from './use-search.ts';

const LINE_HEIGHT = 20;

export interface LogViewProps {
  jobId: string;
  attempt: number | null;
  /** The number of retries: the log is opened again when it changes. */
  again: number;
  status: string;
  /** Whether an attempt has begun. */
  started: boolean;
}

/** The log as it is written: follows its end, can be searched, wrapped, and linked to by line. */
export function LogView({ jobId, attempt, again, status, started }: LogViewProps) {
  const running = status === 'running';
  const { lines, version, ended, problem } = useLog(jobId, attempt, again);
  const linked = linkedLine();
  const [follow, setFollow] = useState(linked === null);
  const [wrap, setWrap] = useStored('log.wrap', false);
  const [times, setTimes] = useStored('log.times', false);
  const [wanted, setWanted] = useState('');
  const [match, setMatch] = useState(0);
  const [marked, setMarked] = useState(linked);
  const matches = useSearch(lines, version, wanted);
  const { scroller, virtual } = useLogScroll({ lines, version, follow, wrap, linked });

  const goTo = (place: number): void => {
    if (matches.length === 0) return;
    const next = (place + matches.length) % matches.length;
    setFollow(false);
    setMatch(next);
    const line = matches[next] ?? 0;
    virtual.scrollToIndex(line, { align: 'center' });
    // Puts the link to the line into the address without a pointer.
    setMarked(line + 1);
    history.replaceState(null, '', `#L${line + 1}`);
  };
  useKeys({
    f: () => setFollow(!follow),
    w: () => setWrap(!wrap),
    T: () => setTimes(!times),
    G: () => setFollow(true),
    'g g': () => {
      setFollow(false);
      virtual.scrollToIndex(0);
    },
    ...(matches.length > 0 && { n: () => goTo(match + 1), N: () => goTo(match - 1) }),
  });
  useFirstMatch(wanted, match === 0 ? matches[0] : undefined, () => goTo(0));
  const search = (text: string): void => {
    setWanted(text);
    setMatch(0);
  };
  const tools = { jobId, attempt, follow, wrap, times, wanted, match, matches: matches.length };
  return (
    <section className="log" aria-label="Log">
      <LogTools {...tools} onFollow={setFollow} onWrap={setWrap} onTimes={setTimes} onWanted={search} onMatch={goTo} />
      {problem !== null && <p className="note note-bad">{problem}</p>}
      <LogOutput
        {...{ lines, scroller, virtual, wrap, times, wanted, marked }}
        empty={ended ? 'No output.' : !started ? 'Not started yet.' : emptyText(status)}
        onFollow={setFollow}
        onMark={setMarked}
      />
      {!follow && running && (
        <button type="button" className="follow-pill" onClick={() => setFollow(true)}>
          ↓ Follow
        </button>
      )}
    </section>
  );
}

/** The log of a job that has ended is read to its end; that of others may get more. */
function emptyText(status: string): string | null {
  return hasEnded(status) ? null : 'No output yet…';
}

/** Shows the first match as soon as it is found; Enter goes to the next. */
function useFirstMatch(wanted: string, first: number | undefined, show: () => void): void {
  useEffect(() => {
    if (wanted !== '' && first !== undefined) show();
  }, [wanted, first]);
}

type Rows = Virtualizer<HTMLDivElement, Element>;

interface LogScrollInput {
  lines: LogLines;
  version: number;
  follow: boolean;
  wrap: boolean;
  linked: number | null;
}

/** Renders the visible lines only, and scrolls to the end or to the line of the address. */
function useLogScroll({ lines, version, follow, wrap, linked }: LogScrollInput) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual: Rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  });
  useEffect(() => virtual.measure(), [wrap, virtual]);
  useEffect(() => {
    if (follow && lines.length > 0) virtual.scrollToIndex(lines.length - 1, { align: 'end' });
  }, [follow, lines, version, virtual]);
  // Jumps to the line of the address as soon as it has been read.
  const [jumped, setJumped] = useState(linked === null);
  useEffect(() => {
    if (jumped || linked === null || lines.length < linked) return;
    setJumped(true);
    virtual.scrollToIndex(linked - 1, { align: 'center' });
  }, [jumped, linked, lines, version, virtual]);
  return { scroller, virtual };
}

interface LogOutputProps {
  lines: LogLines;
  scroller: RefObject<HTMLDivElement | null>;
  virtual: Rows;
  wrap: boolean;
  /** Whether each line shows when it was received. */
  times: boolean;
  wanted: string;
  marked: number | null;
  /** Shown while there is no line; `null` while the log is read. */
  empty: string | null;
  onFollow: (on: boolean) => void;
  onMark: (number: number) => void;
}

function LogOutput(props: LogOutputProps) {
  const { lines, scroller, virtual, wrap, times, wanted, marked, empty, onFollow, onMark } = props;
  return (
    <div
      ref={scroller}
      className={wrap ? 'log-scroll log-wrap' : 'log-scroll'}
      role="log"
      aria-live="off"
      aria-label="Output"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
      tabIndex={0}
      onWheel={(event) => {
        if (event.deltaY < 0) onFollow(false);
      }}
      onKeyDown={(event) => {
        if (['ArrowUp', 'PageUp', 'Home'].includes(event.key)) onFollow(false);
        if (event.key === 'End') onFollow(true);
      }}
    >
      {lines.length === 0 ? (
        <div className="log-empty">{empty ?? <Loading />}</div>
      ) : (
        <div className="log-space" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => {
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
                <LineNumber number={number} onMark={onMark} />
                {times && <LineTime at={line?.at ?? null} />}
                <span className="log-text">{line !== undefined && <LogText line={line} mark={wanted} />}</span>
              </div>
            );
          })}
        </div>
      )}
    </div>
  );
}

function LineNumber({ number, onMark }: { number: number; onMark: (number: number) => void }) {
  return (
    <a
      className="log-number"
      href={`#L${number}`}
      tabIndex={-1}
      aria-label={`Link to line ${number}`}
      onClick={() => onMark(number)}
    >
      {number}
    </a>
  );
}

function LineTime({ at }: { at: number | null }) {
  if (at === null) return <span className="log-time" />;
  return (
    <time className="log-time" dateTime={new Date(at).toISOString()} title={exactInstant(at)}>
      {secondText(at)}
    </time>
  );
}

function linkedLine(): number | null {
  const number = /^#L(\d{1,9})$/.exec(location.hash)?.[1];
  return number === undefined ? null : Number(number);
}
