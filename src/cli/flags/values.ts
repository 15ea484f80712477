/** Parsers of flag values. Each throws with what it expected. */

import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../../core/duration.ts';
import { BACKOFF_TYPES } from '../../core/job.ts';
import { NOTIFY_EVENTS } from '../../core/notify.ts';
import { didYouMean } from '../../core/suggest.ts';

export function integerFlag(text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError('expected a whole number');
  return Number(text);
}

export function countFlag(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) throw new InvalidArgumentError(`expected a whole number from ${least}`);
    return value;
  };
}

/** Milliseconds. */
export function durationFlag(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('expected a duration such as 90s, 1h30m or 7d');
  return ms;
}

/** JSON of any kind, in an object: Commander treats null as not given. */
export function jsonFlag(text: string): { json: unknown } {
  try {
    return { json: JSON.parse(text) };
  } catch (error) {
    throw new InvalidArgumentError(`expected JSON (${(error as Error).message})`);
  }
}

/** RFC 3339. Accepts what `Date` reads (without a zone: local time), or a duration from now. */
export function instantFlag(text: string): string {
  const ms = /^\d+$/.test(text) ? undefined : parseDuration(text);
  const at = ms === undefined ? Date.parse(text) : Date.now() + ms;
  if (Number.isNaN(at))
    throw new InvalidArgumentError('expected an instant such as 2026-01-31T09:00 or 10m for in ten minutes');
  return new Date(at).toISOString();
}

/** RFC 3339. Like `instantFlag`, but a duration means that long ago. */
export function pastFlag(text: string): string {
  const ms = /^\d+$/.test(text) ? undefined : parseDuration(text);
  const at = ms === undefined ? Date.parse(text) : Date.now() - ms;
  if (Number.isNaN(at))
    throw new InvalidArgumentError('expected an instant such as 2026-01-31T09:00 or 2h for two hours ago');
  return new Date(at).toISOString();
}

/** A comma list; the flag may be repeated. */
export function collectList(text: string, before: string[] | undefined): string[] {
  const words = text.split(',').map((word) => word.trim());
  if (words.includes('')) throw new InvalidArgumentError('expected a list such as a,b');
  return [...(before ?? []), ...words];
}

/** Texts that may contain commas; the flag may be repeated. */
export function collectTexts(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), text];
}

/** A comma list of jobs to wait for: `12`, `#12`, or with the end that is waited for, `12:failure`; the flag may be repeated. */
export function collectDependencies(text: string, before: unknown[] | undefined): unknown[] {
  const found = collectList(text, undefined).map((word) => {
    const [, job, condition] = /^#?([1-9]\d{0,15})(?::(success|failure|ended))?$/.exec(word) ?? [];
    if (job === undefined) throw new InvalidArgumentError('expected job ids such as 12,13:failure,14:ended');
    return condition === undefined ? job : { job, if: condition };
  });
  return [...(before ?? []), ...found];
}

/** `exponential:5s:1h`. */
export function backoffFlag(text: string): object {
  const [type = '', base, cap] = text.split(':');
  if (!(BACKOFF_TYPES as readonly string[]).includes(type)) refuse(type, BACKOFF_TYPES);
  return {
    type,
    ...(base === undefined ? {} : { base: durationFlag(base) }),
    ...(cap === undefined ? {} : { cap: durationFlag(cap) }),
  };
}

/** `NAME=VALUE` pairs by name; the flag may be repeated. */
export function collectPairs(text: string, before: Record<string, string> | undefined): Record<string, string> {
  const equals = text.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('expected NAME=VALUE');
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
}

/** A comma list of exit codes; the flag may be repeated. */
export function collectCodes(text: string, before: number[] | undefined): number[] {
  return [...(before ?? []), ...collectList(text, undefined).map(countFlag(0, 255))];
}

/** A comma list of known words. */
export function collectOneOf(known: readonly string[]): (text: string, before: string[] | undefined) => string[] {
  return (text, before) => collectList(text, before).map((word) => (known.includes(word) ? word : refuse(word, known)));
}

export function oneOfFlag(known: readonly string[]): (text: string) => string {
  return (text) => (known.includes(text) ? text : refuse(text, known));
}

/** `NAME=VALUE` pairs; the flag may be repeated. `NAME` alone takes the value from here. */
export function collectVariables(text: string, before: Record<string, string> | undefined): Record<string, string> {
  const equals = text.indexOf('=');
  const name = equals < 0 ? text : text.slice(0, equals);
  const value = equals < 0 ? process.env[name] : text.slice(equals + 1);
  if (name === '' || value === undefined)
    throw new InvalidArgumentError('expected NAME=VALUE, or NAME of a variable that is set here');
  return { ...before, [name]: value };
}

/** `NAME=SECRET` pairs; the flag may be repeated. */
export function collectSecrets(
  text: string,
  before: Record<string, { secret: string }> | undefined,
): Record<string, { secret: string }> {
  const [, name, secret] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || secret === undefined) throw new InvalidArgumentError('expected NAME=SECRET');
  return { ...before, [name]: { secret } };
}

/** `name=amount,…`; the flag may be repeated. */
export function collectAmounts(text: string, before: Record<string, number> | undefined): Record<string, number> {
  const amounts = { ...before };
  for (const pair of collectList(text, undefined)) {
    const match = /^([^=\s]+)=(\d+(?:\.\d+)?)$/.exec(pair);
    if (match === null) throw new InvalidArgumentError('expected pairs such as memory_mb=512,gpu=1');
    amounts[match[1] as string] = Number(match[2]);
  }
  return amounts;
}

/** `customer:42=3`; the flag may be repeated. A key may contain `=`. */
export function collectLimits(text: string, before: LimitFlag[] | undefined): LimitFlag[] {
  const match = /^(.+)=(\d{1,9})$/s.exec(text);
  if (match === null) throw new InvalidArgumentError('expected KEY=MAX, such as customer:42=3');
  return [...(before ?? []), { key: match[1] as string, max: Number(match[2]) }];
}

/** `api:stripe=10/1s`, or with a burst `api:stripe=10/1s+5`; the flag may be repeated. */
export function collectRates(text: string, before: RateFlag[] | undefined): RateFlag[] {
  const equals = text.lastIndexOf('=');
  if (equals < 1) throw new InvalidArgumentError('expected KEY=LIMIT/PER, such as api:stripe=10/1s');
  return [...(before ?? []), { key: text.slice(0, equals), ...rateFlag(text.slice(equals + 1)) }];
}

/** `100/1m`, or with a burst `100/1m+20`. */
function rateFlag(text: string): Omit<RateFlag, 'key'> {
  const match = /^(\d{1,9})\/([^+]+)(?:\+(\d{1,9}))?$/.exec(text);
  if (match === null) throw new InvalidArgumentError('expected LIMIT/PER, such as 100/1m, or 100/1m+20 with a burst');
  const burst = match[3] === undefined ? {} : { burst: Number(match[3]) };
  return { limit: Number(match[1]), per: durationFlag(match[2] as string), ...burst };
}

export function rateOrNone(text: string): Omit<RateFlag, 'key'> | 'none' {
  return text === 'none' ? text : rateFlag(text);
}

interface LimitFlag {
  key: string;
  max: number;
}

interface RateFlag {
  key: string;
  limit: number;
  per: number;
  burst?: number;
}

export interface NotifyFlag {
  on: string[];
  webhook?: string;
  command?: string;
  slow_after?: number;
}

/** `failed,recovered=https://…`, `slow:10m=https://…` or `failed=SHELL LINE`; the flag may be repeated. */
export function collectNotify(text: string, before: NotifyFlag[] | undefined): NotifyFlag[] {
  const equals = text.indexOf('=');
  const target = text.slice(equals + 1);
  if (equals < 1 || target === '') throw new InvalidArgumentError('expected EVENT,…=URL or EVENT,…=COMMAND');
  const [, slow] = /(?:^|,)slow:([^,=]+)/.exec(text.slice(0, equals)) ?? [];
  const on = collectOneOf(NOTIFY_EVENTS)(text.slice(0, equals).replace(`slow:${slow}`, 'slow'), undefined);
  if (on.includes('slow') && slow === undefined)
    throw new InvalidArgumentError('expected a duration, such as slow:10m');
  return [
    ...(before ?? []),
    {
      on,
      ...(/^https?:\/\//.test(target) ? { webhook: target } : { command: target }),
      ...(slow !== undefined && { slow_after: durationFlag(slow) }),
    },
  ];
}

export function limitFlag(text: string): number | 'none' {
  return text === 'none' ? text : countFlag(0, 1_000_000)(text);
}

function refuse(word: string, known: readonly string[]): never {
  const suggestion = didYouMean(word, known);
  throw new InvalidArgumentError(
    `expected ${known.join(', ')}${suggestion === undefined ? '' : `\n(Did you mean ${suggestion.slice(13)})`}`,
  );
}
