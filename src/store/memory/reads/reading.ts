import { type Attempt, DEFAULT_SPEC, type Job } from '../../../core/job.ts';
import {
  type CutField,
  type JobFilter,
  type ListedJob,
  listedJob,
  MAX_LISTED_LENGTH,
} from '../../../core/job-filter.ts';
import { WEBHOOK_HANDLER } from '../../../core/notify.ts';
import { type Entry, endOf } from '../base/entry.ts';
import { jobOf, type Tables } from '../base/tables.ts';

export function read(tables: Tables, ids: readonly number[]): Job[] {
  return ids.flatMap((id) => {
    const entry = tables.jobs.get(id);
    return entry === undefined ? [] : [jobOf(tables, entry)];
  });
}

export function list(tables: Tables, filter: JobFilter, page: { before: number | null; limit: number }): ListedJob[] {
  const found: ListedJob[] = [];
  for (const entry of newestFirst(tables, page.before)) {
    if (found.length >= page.limit || isTooOld(tables, entry, filter)) break;
    if (matches(entry, filter)) found.push(listed(tables, entry));
  }
  return found;
}

/** Cuts before it copies. */
function listed(tables: Tables, entry: Entry): ListedJob {
  const cut: CutField[] = [];
  const spec = { ...entry.spec };
  const end = { ...endOf(entry) };
  let { result } = entry;
  if (isLongText(spec.command)) {
    spec.command = shortened(spec.command);
    cut.push('command');
  }
  for (const field of ['input', 'env', 'notify'] as const) {
    if (!isLongJson(spec[field])) continue;
    Object.assign(spec, { [field]: DEFAULT_SPEC[field] });
    cut.push(field);
  }
  const hides = isLongText(spec.sealedInput);
  if (hides) spec.sealedInput = null;
  if (isLongText(end.error)) {
    end.error = shortened(end.error);
    cut.push('error');
  }
  if (isLongJson(end.thrown)) {
    end.thrown = null;
    cut.push('thrown');
  }
  if (isLongJson(result)) {
    result = null;
    cut.push('result');
  }
  return listedJob(jobOf(tables, cut.length === 0 && !hides ? entry : { ...entry, spec, end, result }), cut);
}

/** Counts characters as SQL does: those outside of the basic plane are one. */
function isLongText(text: string | null): text is string {
  return (
    text !== null &&
    text.length > MAX_LISTED_LENGTH &&
    Array.from(text.slice(0, 2 * MAX_LISTED_LENGTH + 1)).length > MAX_LISTED_LENGTH
  );
}

function shortened(text: string): string {
  return Array.from(text.slice(0, 2 * MAX_LISTED_LENGTH))
    .slice(0, MAX_LISTED_LENGTH)
    .join('');
}

/** The lengths of JSON values. Stored values never change. */
const lengths = new WeakMap<object, number>();

function isLongJson(value: unknown): boolean {
  if (typeof value === 'string') return value.length > MAX_LISTED_LENGTH;
  if (typeof value !== 'object' || value === null) return false;
  const length = lengths.get(value) ?? JSON.stringify(value).length;
  lengths.set(value, length);
  return length > MAX_LISTED_LENGTH;
}

export function count(tables: Tables, filter: JobFilter, atMost: number): number {
  let found = 0;
  for (const entry of tables.jobs.values()) {
    if (found >= atMost) break;
    if (!isTooOld(tables, entry, filter) && matches(entry, filter)) found += 1;
  }
  return found;
}

export function attempts(tables: Tables, jobId: number): Attempt[] {
  return (tables.jobs.get(jobId)?.attempts ?? []).map((attempt) => ({ ...attempt }));
}

function* newestFirst(tables: Tables, before: number | null): Generator<Entry> {
  let left = tables.jobs.size;
  for (let id = Math.min(tables.lastId.job, (before ?? Infinity) - 1); id > 0 && left > 0; id -= 1) {
    const entry = tables.jobs.get(id);
    if (entry === undefined) continue;
    left -= 1;
    yield entry;
  }
}

function isTooOld(tables: Tables, entry: Entry, { newest }: JobFilter): boolean {
  return newest !== undefined && entry.id <= newestId(tables) - newest;
}

function newestId(tables: Tables): number {
  for (const { id } of newestFirst(tables, null)) return id;
  return 0;
}

function matches(entry: Entry, filter: JobFilter): boolean {
  const { spec } = entry;
  if (filter.ids !== undefined && !filter.ids.includes(entry.id)) return false;
  if (filter.workflowId !== undefined && filter.workflowId !== entry.workflowId) return false;
  if (filter.groupId !== undefined && filter.groupId !== entry.groupId) return false;
  if (filter.parentId !== undefined && !entry.parents.has(filter.parentId)) return false;
  if (filter.statuses !== undefined && !filter.statuses.includes(entry.status)) return false;
  if (filter.queue !== undefined && filter.queue !== spec.queue) return false;
  if (filter.name !== undefined && filter.name !== spec.name) return false;
  if (filter.uniqueKey !== undefined && filter.uniqueKey !== entry.uniqueKey) return false;
  if (filter.submittedBy !== undefined && filter.submittedBy !== spec.submittedBy) return false;
  if (filter.tags !== undefined && !filter.tags.every((tag) => spec.tags.includes(tag))) return false;
  if (filter.workerId !== undefined && filter.workerId !== entry.workerId) return false;
  if (filter.reason !== undefined && filter.reason !== entry.reason) return false;
  if (filter.createdFrom !== undefined && entry.createdAt < filter.createdFrom) return false;
  if (filter.createdTo !== undefined && entry.createdAt >= filter.createdTo) return false;
  if (filter.error !== undefined && !endOf(entry).error?.toLowerCase().includes(filter.error.toLowerCase()))
    return false;
  return filter.text === undefined || speaksOf(entry, filter.text);
}

function speaksOf(entry: Entry, text: string): boolean {
  const wanted = text.toLowerCase();
  const texts = [entry.spec.name, entry.spec.command, endOf(entry).error];
  if (texts.some((part) => part?.toLowerCase().includes(wanted))) return true;
  // The input of a webhook is not for readers.
  const isHidden = entry.spec.input === null || entry.spec.handler === WEBHOOK_HANDLER;
  const input = isHidden ? undefined : JSON.stringify(entry.spec.input);
  return input?.toLowerCase().replaceAll(' ', '').includes(wanted.replaceAll(' ', '')) ?? false;
}
