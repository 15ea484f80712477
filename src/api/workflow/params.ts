/** Parameters of a workflow: declarations, and the check of given values against them. */

import { z } from 'zod';
import { knownNames, Suggestions } from '../../core/suggest.ts';
import { findUnclean, pointerStep } from '../../core/text.ts';
import { invalid, MAX_ERRORS } from '../decode.ts';
import { MAX_JOBS } from '../job-submission.ts';
import { strict } from '../schemas.ts';

export const PARAM_TYPES = ['string', 'integer', 'number', 'boolean', 'list'] as const;
type ParamType = (typeof PARAM_TYPES)[number];
export type ParamValue = string | number | boolean | unknown[];

/** The longest value that an environment variable can have on every system. */
export const MAX_PARAM_LENGTH = 65_536;

const scalar = z.union([z.string(), z.number(), z.boolean()], 'expected text, a number, true or false');

/** A parameter as a file declares it. */
export const ParamDeclaration = strict({
  type: z.enum(PARAM_TYPES).meta({ description: 'string by default; lists are for for_each.' }).exactOptional(),
  default: z
    .union(
      [z.string(), z.number(), z.boolean(), z.array(z.unknown())],
      'expected text, a number, true or false, or a list',
    )
    .meta({ description: 'Makes the parameter optional.' })
    .exactOptional(),
  required: z.boolean().meta({ description: 'true unless there is a default.' }).exactOptional(),
  enum: z
    .array(scalar)
    .min(1, 'must not be empty')
    .max(1_000)
    .meta({ description: 'The allowed values.' })
    .exactOptional(),
  description: z.string().max(4_096).exactOptional(),
});
export type ParamDeclaration = z.output<typeof ParamDeclaration>;

export interface Param {
  name: string;
  type: ParamType;
  required: boolean;
  default: ParamValue | undefined;
  /** The allowed values; `null`: any. */
  enum: readonly ParamValue[] | null;
  description: string | null;
}

export function paramFrom(name: string, declared: ParamDeclaration): Param {
  return {
    name,
    type: declared.type ?? 'string',
    required: declared.required ?? declared.default === undefined,
    default: declared.default,
    enum: declared.enum ?? null,
    description: declared.description ?? null,
  };
}

const EXPECTED: Readonly<Record<ParamType, string>> = {
  string: 'expected text',
  integer: 'expected a whole number',
  number: 'expected a number',
  boolean: 'expected true or false',
  list: 'expected a list',
};

/** Returns what is wrong with a value of the right type; `undefined` if nothing is. */
export function paramProblem(param: Pick<Param, 'type' | 'enum'>, value: unknown): string | undefined {
  if (!isOfType(param.type, value)) {
    const quoted =
      param.type === 'string' && ['number', 'boolean'].includes(typeof value)
        ? `: write "${String(value)}" in quotes`
        : '';
    return `${EXPECTED[param.type]}${quoted || `, got ${shown(value)}`}`;
  }
  if (typeof value === 'string' && value.length > MAX_PARAM_LENGTH)
    return `must have at most ${MAX_PARAM_LENGTH} characters`;
  if (Array.isArray(value) && value.length > MAX_JOBS) return `at most ${MAX_JOBS} items`;
  const unclean = findUnclean(value);
  if (unclean !== undefined) return unclean.detail;
  if (param.enum !== null && !param.enum.includes(value as ParamValue)) {
    return `expected one of ${param.enum.map(String).join(', ')}, got ${shown(value)}`;
  }
  return undefined;
}

/**
 * Returns the value of every parameter by name: the given one, else the default; an optional one without either is left
 * out. Text is read as the type of the parameter, so values of a command line and of JSON both work. Throws `bad_request`
 * with all mistakes.
 */
export function resolveParams(
  params: readonly Param[],
  given: Readonly<Record<string, unknown>>,
): Map<string, ParamValue> {
  const errors: { pointer: string; detail: string }[] = [];
  const values = new Map<string, ParamValue>();
  const wrong = (name: string, detail: string): void => {
    errors.push({ pointer: `/params/${pointerStep(name)}`, detail });
  };
  const names = new Set(params.map(({ name }) => name));
  const suggestions = new Suggestions([...names]);
  const known = names.size === 0 ? 'the workflow has none' : `known are ${knownNames([...names])}`;
  for (const name of Object.keys(given)) {
    if (names.has(name)) continue;
    const near = suggestions.nearest(name);
    wrong(name, `unknown parameter; ${near === undefined ? known : `did you mean ${near}?`}`);
  }
  for (const param of params) {
    const value = Object.hasOwn(given, param.name) ? readAs(param.type, given[param.name]) : param.default;
    if (value === undefined) {
      if (param.required)
        wrong(
          param.name,
          `missing: the parameter has no default${param.description === null ? '' : ` (${param.description})`}`,
        );
      continue;
    }
    const problem = paramProblem(param, value);
    if (problem === undefined) values.set(param.name, value as ParamValue);
    else wrong(param.name, problem);
  }
  if (errors.length > 0) throw invalid(errors.slice(0, MAX_ERRORS), errors.length);
  return values;
}

/** Converts text to the type of the parameter; returns it unchanged if that fails. */
function readAs(type: ParamType, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  switch (type) {
    case 'string':
      return value;
    case 'integer':
      return /^[+-]?\d+$/.test(value) ? Number(value) : value;
    case 'number':
      return /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(value) ? Number(value) : value;
    case 'boolean':
      return value === 'true' ? true : value === 'false' ? false : value;
    case 'list':
      return readList(value);
  }
}

/** Parses a list: JSON, or items separated by commas. */
function readList(text: string): unknown {
  if (!text.trimStart().startsWith('[')) return text === '' ? [] : text.split(',').map((item) => item.trim());
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function isOfType(type: ParamType, value: unknown): boolean {
  switch (type) {
    case 'integer':
      return Number.isSafeInteger(value);
    case 'number':
      return Number.isFinite(value);
    case 'list':
      return Array.isArray(value);
    default:
      return typeof value === type;
  }
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}
