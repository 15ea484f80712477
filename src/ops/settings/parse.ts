/** Parsers of setting values. Each throws an `Error` whose message is what was expected. */

import { isIP } from 'node:net';
import { formatDuration, parseDuration } from '../../core/duration.ts';
import { NOTIFY_EVENTS } from '../../core/notify.ts';
import { socketIn } from '../../core/socket-address.ts';
import { didYouMean } from '../../core/suggest.ts';
import { TOKEN_ROLES, type TokenRole } from '../../core/token.ts';

export function anyText(text: string): string {
  if (text.trim() === '') throw new Error('a text that is not empty');
  return text;
}

/** Accepts what can be sent in a request header. */
export function secret(text: string): string {
  if (!/^[\x21-\x7e]+$/.test(text)) throw new Error('printable ASCII characters without spaces');
  return text;
}

export function oneOf<const T extends string>(choices: readonly T[]): (text: string) => T {
  return (text) => {
    const choice = choices.find((candidate) => candidate === text);
    if (choice !== undefined) return choice;
    const suggestion = didYouMean(text, choices);
    throw new Error(`one of ${choices.join(', ')}${suggestion === undefined ? '' : ` (${suggestion})`}`);
  };
}

export function onOrOff(text: string): boolean {
  return oneOf(['on', 'off'])(text) === 'on';
}

export function listOf<T>(parse: (text: string) => T): (text: string) => readonly T[] {
  return (text) => [...new Set(splitList(text).map(parse))];
}

export function names(text: string): readonly string[] {
  return [...new Set(splitList(text))];
}

export function countFrom(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new Error(`a whole number from ${min} to ${max}`);
    }
    return value;
  };
}

export const port = countFrom(0, 65_535);

export function durationFrom(minMs: number): (text: string) => number {
  return (text) => {
    const ms = parseDuration(text);
    if (ms === undefined) throw new Error('a duration such as 90s, 1h30m or 7d');
    if (ms < minMs) throw new Error(`a duration of at least ${formatDuration(minMs)}`);
    return ms;
  };
}

export function durationOrOff(text: string): number | null {
  return text === 'off' ? null : durationFrom(0)(text);
}

/** Parses `name=amount` pairs. */
export function quantities(text: string): Readonly<Record<string, number>> {
  return Object.fromEntries(splitList(text).map(quantity));
}

function quantity(text: string): [string, number] {
  const match = /^([^=\s]+)=(\d+(?:\.\d+)?)$/.exec(text);
  if (match === null) throw new Error('pairs such as memory_mb=4096,gpu=1');
  return [match[1] as string, Number(match[2])];
}

/** Removes slashes at the end. */
export function httpUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new Error('a URL such as http://127.0.0.1:8080');
  }
  return text.replace(/\/+$/, '');
}

/** The address of a server: also `unix:` with the absolute path of its socket. */
export function serverUrl(text: string): string {
  if (socketIn(text) !== undefined) return text;
  try {
    return httpUrl(text);
  } catch {
    throw new Error('a URL such as http://127.0.0.1:8080, or unix:/run/workron/workron.sock');
  }
}

export const serverUrls = listOf(serverUrl);

/** The absolute path of a socket. */
export function socketPath(text: string): string {
  if (socketIn(`unix:${text}`) === undefined) {
    throw new Error('an absolute path such as /run/workron/workron.sock, without ":", "?" or "#"');
  }
  return text;
}

/** Parses a JSON array; its items are checked by the caller. */
function jsonList(text: string): readonly unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('a JSON array');
  }
  if (!Array.isArray(value)) throw new Error('a JSON array');
  return value as unknown[];
}

const FURTHER_TARGET = new RegExp(`,(?:${NOTIFY_EVENTS.join('|')})\\b[^=\\s]*=`);

/** A JSON list, or one target as commands take it: `failed,recovered=https://…`, `slow:10m=https://…` or `failed=SHELL LINE`. */
export function notifyTargets(text: string): readonly unknown[] {
  if (/^\s*\[/.test(text)) return jsonList(text);
  const [, events = '', target = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (target === '') throw new Error('EVENT,…=URL, EVENT,…=COMMAND or a JSON array');
  // The values of a repeated flag arrive joined by commas.
  if (FURTHER_TARGET.test(target)) throw new Error('one target, or several as a JSON array');
  const [, slow] = /(?:^|,)slow:([^,]+)/.exec(events) ?? [];
  const on = events.replace(/(?<=^|,)slow:[^,]+/, 'slow').split(',');
  const to = /^https?:\/\//.test(target) ? { webhook: target } : { command: target };
  return [{ on, ...to, ...(slow !== undefined && { slow_after: slow }) }];
}

/** Accepts `10.0.0.0/8`, `::1` or `all`. */
export function network(text: string): string {
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  const fits = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
  if (text !== 'all' && (isIP(address) === 0 || !fits || rest.length > 0)) {
    throw new Error('networks such as 10.0.0.0/8, single addresses, or all');
  }
  return text;
}

/** Accepts an address or a network. */
export function peer(text: string): string {
  if (text === 'all') throw new Error('addresses or networks such as 127.0.0.1 or 10.0.0.0/8');
  return network(text);
}

/** Accepts a header that says nothing but who the user is. */
export function headerName(text: string): string {
  const taken = ['authorization', 'cookie', 'host', 'origin', 'x-forwarded-for', 'x-workron-session'];
  if (!/^[a-z0-9-]{1,64}$/i.test(text) || taken.includes(text.toLowerCase())) {
    throw new Error('a header such as X-Forwarded-Email');
  }
  return text.toLowerCase();
}

export interface RoleRule {
  /** A name; `*` stands for any text. */
  pattern: string;
  role: TokenRole;
}

/** Roles of people: a worker has a token. */
const PEOPLE: readonly TokenRole[] = TOKEN_ROLES.filter((role) => role !== 'worker');

export function roleRules(text: string): readonly RoleRule[] {
  return splitList(text).map((rule) => {
    const [, pattern = '', given = ''] = /^([^=\s]{1,128})=([^=]+)$/.exec(rule) ?? [];
    const role = PEOPLE.find((known) => known === given);
    if (role !== undefined && (pattern.match(/\*/g) ?? []).length <= 4) return { pattern, role };
    throw new Error(`rules such as ada@example.org=admin,*@example.org=viewer, with the roles ${PEOPLE.join(', ')}`);
  });
}

/** Accepts a name that needs no quotes in SQL. */
export function identifier(text: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(text)) {
    throw new Error('a name of at most 63 lower-case letters, digits and _, not beginning with a digit');
  }
  return text;
}

function splitList(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.some((part) => part === '')) throw new Error('a list such as a,b');
  return parts;
}
