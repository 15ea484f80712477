/** Schedules as text for people. */

import { countText } from '../../api/count-text.ts';
import type { Schedule, ScheduleDetail } from '../../api/schedule.ts';
import type { LedgerEntry, NextTicks, Tick } from '../../api/tick.ts';
import { formatDuration } from '../../core/duration.ts';
import type { ClockNote } from '../../core/schedule/clock-note.ts';
import { terminalWidth } from '../client-command.ts';
import { notifyText } from './job.ts';
import { bold, dim, oneLine, stateText, stateFormat as statusFormat, styled } from './style.ts';
import { type Column, renderTable } from './table.ts';
import { between, moment, plain, span, when } from './when.ts';

export const CLOCK_TEXTS: Readonly<Record<ClockNote, string>> = {
  after_gap: 'the clock has just gone forward',
  first_of_two: 'the clock shows this twice: the first time',
  second_of_two: 'the clock shows this twice: the second time',
};

export const SCHEDULE_COLUMNS: readonly Column<ScheduleDetail>[] = [
  { title: 'SCHEDULE', text: ({ name }) => name, flexible: true, identifies: true },
  { title: 'STATE', text: stateOf, format: (schedule) => stateFormat(schedule) },
  { title: 'WHEN', text: whenText, flexible: true },
  { title: 'NEXT', text: ({ next_run }) => when(next_run) },
  { title: 'LAST RUN', text: ({ last_run }) => when(last_run), spare: true },
  { title: 'OUTCOME', text: lastOutcome, format: lastOutcomeFormat },
  { title: 'DONE', text: doneText, format: doneFormat, align: 'right' },
  { title: 'RUNS', text: runsText, flexible: true },
  { title: 'LAST TICK', text: ({ last_verdict }) => tickText(last_verdict), wide: true },
  { title: 'OWNER', text: ({ owner }) => oneLine(owner ?? '–'), flexible: true, wide: true },
];

/** The columns of ticks whose runs were just started. */
const TICK_COLUMNS: readonly Column<Tick>[] = [
  { title: 'SCHEDULED FOR', text: ({ scheduled_for }) => plain(scheduled_for), identifies: true },
  { title: 'TICK', text: ({ verdict }) => tickText(verdict), format: ({ verdict }) => verdictFormat(verdict) },
  { title: 'FIRES', text: ({ count, through }) => (count === 1 ? '' : `${count} until ${plain(through)}`) },
  { title: 'KEY', text: ({ key }) => oneLine(key ?? '') },
  { title: 'KIND', text: ({ kind }) => kind },
  { title: 'LATE', text: lateText, align: 'right' },
  { title: 'RUN', text: runOf },
];

const outcomeColumns: readonly Column<LedgerEntry>[] = [
  {
    title: 'OUTCOME',
    text: ({ run }) => (run == null ? '' : stateText(run.status)),
    format: ({ run }) => (run == null ? 'reset' : statusFormat(run.status)),
  },
  {
    title: 'TOOK',
    text: ({ run }) => (run?.started_at == null ? '' : between(run.started_at, run.ended_at)),
    align: 'right',
  },
];

export const LEDGER_COLUMNS: readonly Column<LedgerEntry>[] = [
  ...TICK_COLUMNS.slice(0, 2),
  ...outcomeColumns,
  ...TICK_COLUMNS.slice(2),
];

export function describeSchedule(schedule: ScheduleDetail, next: NextTicks, ticks: readonly LedgerEntry[]): string {
  const lines = [`${bold(schedule.name)}  ${styled(stateFormat(schedule), stateOf(schedule))}`];
  const line = (label: string, value: string | null): void => {
    if (value !== null && value !== '') lines.push(`${dim(label.padEnd(12))}${value}`);
  };
  line('when', `${whenText(schedule)}${schedule.cron === null ? '' : `  ${dim(schedule.cron)}`}`);
  line('runs', runsText(schedule));
  line('for each', schedule.for_each === null ? null : keysText(schedule.for_each));
  line('overlap', schedule.overlap);
  line('catch-up', catchupText(schedule));
  line('jitter', schedule.jitter === 0 ? null : formatDuration(schedule.jitter));
  line('starts', schedule.start_at === null ? null : moment(schedule.start_at));
  line('ends', schedule.end_at === null ? null : moment(schedule.end_at));
  line('notify', schedule.notify.map(notifyText).join(', '));
  line('owner', schedule.owner === null ? null : oneLine(schedule.owner));
  line('paused', schedule.paused_at === null ? null : `${when(schedule.paused_at)}${noteText(schedule)}`);
  line('last run', schedule.last_run === null ? null : `${when(schedule.last_run)}, ${lastRunText(schedule)}`);
  line('recent', recentText(schedule));
  const nextText = next.items.length === 0 ? 'no further ticks\n' : renderTable(nextColumns(next), next.items);
  const ledger = ticks.length === 0 ? '' : `\n${renderTable(LEDGER_COLUMNS, ticks, terminalWidth())}`;
  return `${lines.join('\n')}\n\n${nextText}${ledger}`;
}

type Starting = Pick<NextTicks['items'][number], 'starts_at'>;

export function nextColumns({ timezone, items }: NextTicks): Column<NextTicks['items'][number]>[] {
  const delayed = items.some(({ starts_at, utc }) => starts_at !== null && starts_at !== utc);
  const columns: Column<NextTicks['items'][number]>[] = [
    ...(process.stdout.isTTY ? [{ title: 'NEXT', text: ({ utc }: { utc: string }) => when(utc) }] : []),
    ...(timezone === 'UTC'
      ? []
      : [{ title: timezone.toUpperCase(), text: ({ local }: { local: string }) => spaced(local) }]),
    { title: 'UTC', text: ({ utc }) => plain(utc) },
    ...(delayed ? [{ title: 'STARTS', text: ({ starts_at }: Starting) => plain(starts_at ?? '') }] : []),
  ];
  // The column is empty for most of the year.
  if (items.every(({ note }) => note === null)) return columns;
  const text = ({ note }: NextTicks['items'][number]) => (note === null ? '' : CLOCK_TEXTS[note]);
  return [...columns, { title: 'CLOCK', text, format: () => 'yellow', flexible: true }];
}

/** `At 02:00, Europe/Berlin`. */
export function whenText({ description, cron, timezone, every }: Schedule): string {
  const what = description ?? cron ?? '';
  return every === null ? `${what}, ${timezone}` : what;
}

function stateOf({ paused_at, next_run }: Schedule): string {
  if (paused_at !== null) return 'paused';
  return next_run === null ? 'over' : 'active';
}

function stateFormat(schedule: Schedule): Parameters<typeof styled>[0] {
  const formats = { paused: 'yellow', over: 'dim', active: 'green' } as const;
  return formats[stateOf(schedule) as keyof typeof formats];
}

/** What became of a tick. */
function tickText(verdict: string | null): string {
  return verdict === 'ran' ? 'started' : (verdict?.replaceAll('_', ' ') ?? '–');
}

/** Only a tick that came by itself can be late. */
function lateText({ kind, lateness }: Tick): string {
  return lateness === null || kind !== 'tick' ? '–' : span(lateness);
}

function verdictFormat(verdict: string | null): Parameters<typeof styled>[0] {
  if (verdict === null) return 'dim';
  if (verdict === 'ran') return 'green';
  return verdict === 'missed' || verdict === 'dropped' ? 'red' : 'yellow';
}

/** The state of the last run, or why the last tick has none. */
function lastOutcome({ last_status, last_verdict }: ScheduleDetail): string {
  if (last_verdict !== null && last_verdict !== 'ran') return tickText(last_verdict);
  return last_status == null ? '–' : stateText(last_status);
}

function lastOutcomeFormat({ last_status, last_verdict }: ScheduleDetail): Parameters<typeof styled>[0] {
  if (last_verdict !== null && last_verdict !== 'ran') return verdictFormat(last_verdict);
  return last_status == null ? 'dim' : statusFormat(last_status);
}

/** Ended runs among the newest ticks, and how many of them are done. */
function recentEnds({ recent }: ScheduleDetail): { done: number; ended: number } {
  const { done = 0, failed = 0, cancelled = 0, skipped = 0 } = recent ?? {};
  return { done, ended: done + failed + cancelled + skipped };
}

/** `18/20`: the done ones among the last runs that have ended. */
function doneText(schedule: ScheduleDetail): string {
  const { done, ended } = recentEnds(schedule);
  return ended === 0 ? '–' : `${done}/${ended}`;
}

function doneFormat(schedule: ScheduleDetail): Parameters<typeof styled>[0] {
  const { done, ended } = recentEnds(schedule);
  if (done === ended) return 'reset';
  return done * 2 < ended ? ['red', 'bold'] : 'yellow';
}

function recentText(schedule: ScheduleDetail): string {
  const { done, ended } = recentEnds(schedule);
  return ended === 0 ? '' : styled(doneFormat(schedule), `${done} of ${countText(ended, 'run')} succeeded`);
}

function runsText({ job, workflow, definition }: Schedule): string {
  if (definition != null) return `workflow ${definition.name}@${definition.latest ? 'latest' : definition.version}`;
  if (workflow !== null) return `workflow ${oneLine(workflow.name)}, ${countText(workflow.steps.length, 'step')}`;
  return oneLine(job?.command ?? (job?.handler == null ? '' : `handler ${job.handler}`));
}

function catchupText({ catchup: { policy, window, max } }: Schedule): string {
  if (policy === 'none') return 'none';
  const bounds = `up to ${formatDuration(window)} late`;
  return policy === 'all' ? `all, ${bounds}, at most ${max}` : `latest, ${bounds}`;
}

function keysText(keys: readonly string[]): string {
  const shown = oneLine(keys.slice(0, 10).join(', '));
  return keys.length > 10 ? `${shown} and ${keys.length - 10} more` : shown;
}

function noteText({ paused_note }: Schedule): string {
  return paused_note === null ? '' : `: ${oneLine(paused_note)}`;
}

function lastRunText({ last_job_id, last_workflow_id, last_status }: ScheduleDetail): string {
  const run = last_workflow_id === null ? `job ${last_job_id}` : `workflow ${last_workflow_id}`;
  return last_status == null ? run : `${run} ${styled(statusFormat(last_status), stateText(last_status))}`;
}

/** `job 12`, `workflow 3`. */
export function runOf({ job_id, workflow_id }: Tick): string {
  if (workflow_id !== null) return `workflow ${workflow_id}`;
  return job_id === null ? '' : `job ${job_id}`;
}

/** `2027-03-14T03:00:00-04:00` as `2027-03-14 03:00:00 -04:00`. */
function spaced(local: string): string {
  return `${local.slice(0, 10)} ${local.slice(11, 19)} ${local.slice(19)}`;
}
