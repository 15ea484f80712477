/** Schedule files: their schema, and the parser that returns a list of schedules or all errors. */

import { z } from 'zod';
import { isWorkronError } from '../core/error.ts';
import { parseCron } from '../core/schedule/cron.ts';
import { requireTicks } from '../core/schedule/recurrence.ts';
import { zoneOf } from '../core/schedule/zone.ts';
import { type DeclaredSchedule, declaredSchedules, scheduleOwner } from './schedule-apply.ts';
import { strict } from './schemas.ts';
import { findingsOf } from './workflow/issues.ts';
import { MAX_PROBLEMS, type SourceFinding, type SourceProblem, WorkflowSource } from './workflow/source.ts';

const ScheduleFile = strict({
  $schema: z.string().meta({ description: 'For editors.' }).exactOptional(),
  owner: scheduleOwner.exactOptional(),
  schedules: declaredSchedules,
});

/** Draft 7, which editors support. `schema/schedules.schema.json` is this document. */
export function scheduleJsonSchema(): object {
  const schema = z.toJSONSchema(ScheduleFile, { io: 'input', target: 'draft-7' });
  return { ...schema, title: 'Workron schedules' };
}

export interface ReadSchedules {
  /** The content of the file, for the API; `null` if there are errors. */
  file: { owner?: string; schedules: unknown[] } | null;
  /** From top to bottom, at most 100. */
  problems: SourceProblem[];
  /** How many problems are left out. */
  more: number;
  /** Finds the place in the text of an error that the server reports, by its JSON pointer. */
  locate: (pointer: string, message: string) => SourceProblem;
}

/** Never throws: returns a list of schedules, or errors with their places in the text. */
export function readScheduleFile(text: string, now: number): ReadSchedules {
  const source = new WorkflowSource(text);
  const locate = (pointer: string, message: string) =>
    source.locate({ severity: 'error', message, path: pathOf(pointer), at: 'value' });
  if (source.problems.length > 0)
    return { file: null, problems: explained(source.problems), more: source.more, locate };
  const findings = findingsIn(source.value, now);
  const problems = firstOfEachPlace(findings.slice(0, MAX_PROBLEMS).map((finding) => source.locate(finding)));
  const more = Math.max(0, findings.length - MAX_PROBLEMS);
  return { file: findings.length > 0 ? null : (source.value as ReadSchedules['file']), problems, more, locate };
}

function findingsIn(value: unknown, now: number): SourceFinding[] {
  if (value === null || value === undefined) {
    return [{ severity: 'error', message: 'the file is empty: expected schedules', path: [], at: 'value' }];
  }
  const result = ScheduleFile.safeParse(value);
  if (!result.success) return findingsOf(result.error.issues, value);
  const { schedules } = result.data;
  const silent = schedules.flatMap((schedule, place) => silentIn(schedule, place, now));
  return [...silent, ...usedTwice(schedules)];
}

function usedTwice(schedules: readonly DeclaredSchedule[]): SourceFinding[] {
  const seen = new Set<string>();
  return schedules.flatMap(({ name }, place): SourceFinding[] => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const message = `name: "${name}" is already used above`;
    return [{ severity: 'error', message, path: ['schedules', place, 'name'], at: 'value' }];
  });
}

/** Finds expressions and zones that are invalid, and expressions that never fire. */
function silentIn({ cron, timezone = 'UTC' }: DeclaredSchedule, place: number, now: number): SourceFinding[] {
  const finding = (field: string, message: string): SourceFinding => ({
    severity: 'error',
    message: message.startsWith(field) ? message : `${field}: ${message}`,
    path: ['schedules', place, field],
    at: 'value',
  });
  const refusal = (field: string, check: () => unknown): SourceFinding[] => {
    try {
      check();
      return [];
    } catch (error) {
      if (!isWorkronError(error, 'schedule_invalid')) throw error;
      return [finding(field, error.message)];
    }
  };
  const zone = refusal('timezone', () => zoneOf(timezone));
  if (zone.length > 0 || cron === undefined) return zone;
  return refusal('cron', () => requireTicks(parseCron(cron, timezone), now));
}

/** YAML takes `cron: *\/5 …` for an alias and reports it several times. This replaces those reports by one that helps. */
function explained(problems: readonly SourceProblem[]): SourceProblem[] {
  const reportedLines = new Set<number>();
  return problems.toSorted(byPlace).flatMap((problem) => {
    const unquoted = /^\s*(?:-\s+)?cron:\s*(\*[^#]*)/.exec(problem.sourceLine)?.[1]?.trimEnd();
    if (unquoted === undefined) return [problem];
    if (reportedLines.has(problem.line)) return [];
    reportedLines.add(problem.line);
    const column = problem.sourceLine.indexOf(unquoted) + 1;
    const message = `write the expression in quotes: "${unquoted}"`;
    return [{ ...problem, message, column, length: unquoted.length }];
  });
}

/** Keeps one problem per place: if a key is misspelt, that the right key is missing adds nothing. */
function firstOfEachPlace(problems: readonly SourceProblem[]): SourceProblem[] {
  const places = new Map<string, SourceProblem>();
  for (const problem of problems) {
    const place = `${problem.line}:${problem.column}`;
    if (!places.has(place) || problem.message.startsWith('unknown key')) places.set(place, problem);
  }
  return [...places.values()].sort(byPlace);
}

function byPlace(a: SourceProblem, b: SourceProblem): number {
  return a.line - b.line || a.column - b.column;
}

function pathOf(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}
