/** Decodes messages by their schema, or throws an error that names each wrong field. */

import type { z } from 'zod';
import { type ErrorDetails, WorkronError } from '../core/error.ts';
import { findUnclean, pointerStep } from '../core/text.ts';

type FieldError = NonNullable<ErrorDetails['errors']>[number];

/** Further errors are left out: the first ones are enough to find the mistake. */
export const MAX_ERRORS = 20;

/**
 * Returns the decoded value. Throws `bad_request` with one entry per wrong field; `at` is the pointer of `value` in the
 * request. NUL characters, lone surrogates and very deep nesting are refused everywhere.
 */
export function decode<T>(schema: z.ZodType<T>, value: unknown, at = ''): T {
  const unclean = findUnclean(value);
  if (unclean !== undefined) throw invalid([{ pointer: at + unclean.pointer, detail: unclean.detail }]);
  return decodeFromJobs(schema, value, at);
}

/** Decodes messages that contain text which jobs printed: their schemas clean that text, so it is not refused. */
export function decodeFromJobs<T>(schema: z.ZodType<T>, value: unknown, at = ''): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { issues } = result.error;
  const errors = issues.slice(0, MAX_ERRORS).flatMap((issue) => fieldErrors(issue, at));
  throw invalid(errors.slice(0, MAX_ERRORS), errors.length + Math.max(0, issues.length - MAX_ERRORS));
}

/** Returns a `bad_request` about single fields; its message contains the first of them. `total`: how many there are, if not all are given. */
export function invalid(errors: readonly FieldError[], total = errors.length): WorkronError {
  const [first] = errors;
  const place = first === undefined || first.pointer === '' ? '' : `${first.pointer}: `;
  const more = total > 1 ? ` (and ${total - 1} more)` : '';
  return new WorkronError('bad_request', `${place}${first?.detail ?? 'not valid'}${more}`, { errors });
}

function fieldErrors(issue: z.core.$ZodIssue, at: string): FieldError[] {
  const pointer = at + issue.path.map((step) => `/${pointerStep(String(step))}`).join('');
  if (issue.code === 'unrecognized_keys') {
    const details = issue.message.split('\n');
    return issue.keys.map((key, index) => ({
      pointer: `${pointer}/${pointerStep(key)}`,
      detail: details[index] ?? 'unknown field',
    }));
  }
  if (issue.code === 'invalid_key') return [{ pointer, detail: issue.issues[0]?.message ?? issue.message }];
  if (issue.code === 'invalid_union' && issue.message === 'Invalid input') {
    const branch = fittingBranch(issue.errors);
    if (branch !== undefined) return branch.flatMap((inner) => fieldErrors(inner, pointer));
    return [{ pointer, detail: expectedTypes(issue.errors) }];
  }
  if (issue.code === 'invalid_value' && issue.message.startsWith('Invalid '))
    return [{ pointer, detail: `expected ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}` }];
  return [{ pointer, detail: issue.message.replace(/^Invalid input: /, '') }];
}

function expectedTypes(branches: readonly (readonly z.core.$ZodIssue[])[]): string {
  const types = branches.flat().flatMap((issue) => (issue.code === 'invalid_type' ? [issue.expected] : []));
  return types.length === 0 ? 'not valid' : `expected ${[...new Set(types)].join(' or ')}`;
}

/** Returns the branch of a union that accepts this kind of value and rejects only details of it, by the issues of each branch. */
export function fittingBranch(
  branches: readonly (readonly z.core.$ZodIssue[])[],
): readonly z.core.$ZodIssue[] | undefined {
  const otherKind = ({ code, path }: z.core.$ZodIssue) =>
    path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
  return branches.filter((issues) => !issues.some(otherKind)).sort((a, b) => a.length - b.length)[0];
}
