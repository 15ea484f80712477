/** Schedule files: what may be in them, and from their text to a list or to everything that is wrong with it. */

import { z } from 'zod';
import { isWorkronError } from '../core/error.ts';
import { parseCron } from '../core/schedule/cron.ts';
import { requireTicks } from '../core/schedule/recurrence.ts';
import { zoneOf } from '../core/schedule/zone.ts';
import { type DeclaredSchedule, declaredSchedules, scheduleOwner } from './schedule-apply.ts';
import { strict } from './schemas.ts';
import { findingsOf } from './workflow/issues.ts';
import { type Finding, type SourceProblem, WorkflowSource } from './workflow/source.ts';

export const ScheduleFile = strict({
  $schema: z.string().meta({ description: 'For editors.' }).exactOptional(),
  owner: scheduleOwner.exactOptional(),
  schedules: declaredSchedules,
});

/** Draft 7: what editors understand. `schema/schedules.schema.json` is this document. */
export function scheduleJsonSchema(): object {
  const schema = z.toJSONSchema(ScheduleFile, { io: 'input', target: 'draft-7' });
  return { ...schema, title: 'Workron schedules' };
}

export interface ReadSchedules {
  /** As it stands in the file, for the API; `null` where there are errors. */
  file: { owner?: string; schedules: unknown[] } | null;
  problems: SourceProblem[];
  /** Where something that a server finds wrong is in the text, by its JSON pointer. */
  locate: (pointer: string, message: string) => SourceProblem;
}

/** Never throws: whatever the text is, it comes back as a list or as errors with their places. */
export function readScheduleFile(text: string, now: number): ReadSchedules {
  const source = new WorkflowSource(text);
  const locate = (pointer: string, message: string) =>
    source.locate({ severity: 'error', message, path: pathOf(pointer), at: 'value' });
  if (source.problems.length > 0) return { file: null, problems: explained(source.problems), locate };
  const findings = findingsIn(source.value, now);
  const problems = firstOfEachPlace(findings.map((finding) => source.locate(finding)));
  return { file: findings.length > 0 ? null : (source.value as ReadSchedules['file']), problems, locate };
}

function findingsIn(value: unknown, now: number): Finding[] {
  if (value === null || value === undefined) {
    return [{ severity: 'error', message: 'the file is empty: expected schedules', path: [], at: 'value' }];
  }
  const result = ScheduleFile.safeParse(value);
  if (!result.success) return findingsOf(result.error.issues, value);
  const { schedules } = result.data;
  const silent = schedules.flatMap((schedule, place) => silentIn(schedule, place, now));
  return [...silent, ...usedTwice(schedules)];
}

function usedTwice(schedules: readonly DeclaredSchedule[]): Finding[] {
  const seen = new Set<string>();
  return schedules.flatMap(({ name }, place): Finding[] => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const message = `name: "${name}" stands above already`;
    return [{ severity: 'error', message, path: ['schedules', place, 'name'], at: 'value' }];
  });
}

/** An expression or a zone that means nothing, or never fires. */
function silentIn({ cron, timezone = 'UTC' }: DeclaredSchedule, place: number, now: number): Finding[] {
  const finding = (field: string, message: string): Finding => ({
    severity: 'error',
    message: message.startsWith(field) ? message : `${field}: ${message}`,
    path: ['schedules', place, field],
    at: 'value',
  });
  const refusal = (field: string, check: () => unknown): Finding[] => {
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

/** `cron: *\/5 …` is an alias to YAML, which says so in words that help nobody, several times. */
function explained(problems: readonly SourceProblem[]): SourceProblem[] {
  const told = new Set<number>();
  return problems.toSorted(byPlace).flatMap((problem) => {
    const unquoted = /^\s*(?:-\s+)?cron:\s*(\*[^#]*?)\s*(?:#.*)?$/.exec(problem.sourceLine)?.[1];
    if (unquoted === undefined) return [problem];
    if (told.has(problem.line)) return [];
    told.add(problem.line);
    const column = problem.sourceLine.indexOf(unquoted) + 1;
    const message = `write the expression in quotes: "${unquoted}"`;
    return [{ ...problem, message, column, length: unquoted.length }];
  });
}

/** Where a key is misspelt, that something is missing is no news. */
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
