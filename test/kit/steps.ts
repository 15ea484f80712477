/**
 * Counts the steps that code takes, so that tests can compare amounts of work without a clock. A step is a character of source
 * that V8 has run, or an element that a built-in function had to look at. Code counts only if it was loaded after `startCounting`.
 */

import { type InspectorNotification, type Profiler, Session } from 'node:inspector';
import { setFlagsFromString } from 'node:v8';

interface Measured {
  owner: object;
  /** How many elements a call looks at. `from`: where a regular expression goes on. */
  cost: (self: unknown, given: readonly unknown[], answer: unknown, from: number) => number;
  names: readonly string[];
}

const lengthOf = (value: unknown): number => (value as { length?: number } | null | undefined)?.length ?? 0;
const whole: Measured['cost'] = (self) => lengthOf(self);
const made: Measured['cost'] = (_, __, answer) => lengthOf(answer);
const given: Measured['cost'] = (_, [first]) => lengthOf(first);
const fields: Measured['cost'] = (_, [first]) =>
  typeof first === 'object' && first !== null ? Object.keys(first).length : 0;

/** A search ends where it finds something. */
const searched: Measured['cost'] = (self, [, from], answer) => {
  const start = typeof from === 'number' ? from : 0;
  return Math.max(0, (typeof answer === 'number' && answer >= 0 ? answer : lengthOf(self)) - start);
};
const included: Measured['cost'] = (self, [wanted], answer) =>
  answer === true ? (self as string).indexOf(wanted as string) : lengthOf(self);
const matched: Measured['cost'] = (_, [text], answer, from) =>
  (Array.isArray(answer) ? (answer as RegExpExecArray).index + lengthOf(answer[0]) : lengthOf(text)) - from;
const joinedParts: Measured['cost'] = (_, [parts]) =>
  Array.isArray(parts) ? parts.reduce((sum: number, part) => sum + lengthOf(part), 0) : 0;

const MEASURED: readonly Measured[] = [
  {
    owner: String.prototype,
    cost: whole,
    names: ['split', 'replace', 'replaceAll', 'match', 'matchAll', 'search', 'trim', 'toLowerCase', 'toUpperCase'],
  },
  { owner: String.prototype, cost: searched, names: ['indexOf'] },
  { owner: String.prototype, cost: included, names: ['includes'] },
  { owner: String.prototype, cost: made, names: ['repeat', 'padEnd', 'padStart'] },
  { owner: RegExp.prototype, cost: matched, names: ['exec'] },
  { owner: RegExp.prototype, cost: given, names: ['test'] },
  { owner: Array.prototype, cost: whole, names: ['reverse', 'unshift', 'sort', 'toSorted', 'flat'] },
  { owner: Array.prototype, cost: made, names: ['slice', 'concat', 'join', 'splice'] },
  { owner: Array.prototype, cost: searched, names: ['indexOf'] },
  { owner: Array.prototype, cost: included, names: ['includes'] },
  { owner: Object, cost: fields, names: ['keys', 'values', 'entries'] },
  { owner: JSON, cost: given, names: ['parse'] },
  { owner: JSON, cost: made, names: ['stringify'] },
  { owner: Buffer, cost: joinedParts, names: ['concat'] },
  { owner: Buffer, cost: given, names: ['from'] },
  { owner: Buffer.prototype, cost: searched, names: ['indexOf'] },
  { owner: Buffer.prototype, cost: whole, names: ['equals'] },
  { owner: Buffer.prototype, cost: made, names: ['toString'] },
  { owner: TextDecoder.prototype, cost: given, names: ['decode'] },
];

const session = new Session();
let builtIn = 0;
let isCounting = false;

/** Loads what is imported from now on so that its steps can be counted. */
export function startCounting(): void {
  // Calls that the compiler has inlined, and functions that were dropped to save memory, would not count.
  for (const flag of ['--no-opt', '--no-maglev', '--no-flush-bytecode']) setFlagsFromString(flag);
  session.connect();
  post('Profiler.enable');
  post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  for (const { owner, cost, names } of MEASURED) for (const name of names) measure(owner, name, cost);
}

/** The number of steps that `run` takes. */
export async function countSteps(run: () => unknown): Promise<number> {
  takeBlocks();
  builtIn = 0;
  isCounting = true;
  try {
    await run();
  } finally {
    isCounting = false;
  }
  return builtIn + takeBlocks();
}

function measure(owner: object, name: string, cost: Measured['cost']): void {
  const target = owner as Record<string, (...given: unknown[]) => unknown>;
  const original = target[name] as (...given: unknown[]) => unknown;
  const counted = function (this: unknown, ...given: unknown[]): unknown {
    if (!isCounting) return Reflect.apply(original, this, given);
    // What the cost itself calls is not counted.
    isCounting = false;
    const from = this instanceof RegExp && (this.global || this.sticky) ? this.lastIndex : 0;
    try {
      const answer = Reflect.apply(original, this, given);
      builtIn += cost(this, given, answer, from);
      return answer;
    } finally {
      isCounting = true;
    }
  };
  Object.defineProperty(target, name, { value: counted, writable: true, configurable: true });
}

/** The characters of source that were run since the last call. */
function takeBlocks(): number {
  const { result } = post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType;
  return result
    .filter(
      ({ url }) => !url.startsWith('node:') && !url.endsWith('/test/kit/steps.ts') && !url.includes('/test/growth/'),
    )
    .flatMap(({ functions }) => functions)
    .reduce((sum, { ranges }) => sum + charactersRun(ranges), 0);
}

/** Ranges are nested, an outer one before its inner ones. The count of a range is that of its characters outside of inner ones. */
function charactersRun(ranges: readonly Profiler.CoverageRange[]): number {
  let sum = 0;
  const open: Profiler.CoverageRange[] = [];
  for (const range of ranges) {
    while (open.length > 0 && (open.at(-1) as Profiler.CoverageRange).endOffset <= range.startOffset) open.pop();
    const outer = open.at(-1)?.count ?? 0;
    sum += (range.endOffset - range.startOffset) * (range.count - outer);
    open.push(range);
  }
  return sum;
}

function post(method: string, params: object = {}): unknown {
  let answer: unknown;
  session.post(method, params, (error: Error | null, result?: InspectorNotification<object> | object) => {
    if (error) throw error;
    answer = result;
  });
  return answer;
}
