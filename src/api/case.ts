/**
 * The names of fields: camelCase in TypeScript, snake_case on the wire, by rule and for declared fields only. No schema is loaded, so
 * that browsers can use it.
 */

/** Fields whose values belong to users and are passed on as they are. test/api/case.test.ts compares them with the schemas. */
const OPAQUE = ['details', 'env', 'for_each', 'input', 'most', 'params', 'resources', 'result', 'used'] as const;

type CamelKey<Key> = Key extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelKey<Rest>>}` : Key;

/** A message of the API in camelCase. */
export type Camel<T> = T extends readonly (infer Item)[]
  ? Camel<Item>[]
  : T extends object
    ? string extends keyof T
      ? T
      : { [Key in keyof T as CamelKey<Key>]: Key extends (typeof OPAQUE)[number] ? T[Key] : Camel<T[Key]> }
    : T;

const opaque: ReadonlySet<string> = new Set(OPAQUE.flatMap((field) => [field, camelKey(field)]));
const camelKeys = new Map<string, string>();
const wireKeys = new Map<string, string>();

function camelKey(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function wireKey(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function toCamel<T>(message: T): Camel<T> {
  return renamed(message, (key) => known(camelKeys, key, camelKey)) as Camel<T>;
}

/** The message as the API takes it: fields that are `undefined` count as not given, a `Date` is its instant. */
export function toWire<T>(message: Camel<T>): T {
  return renamed(message, (key) => known(wireKeys, key, wireKey)) as T;
}

function renamed(value: unknown, rename: (key: string) => string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (value instanceof Date) return value.toISOString();
  const result: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) {
    if (field !== undefined) result[rename(key)] = opaque.has(key) ? (field as unknown) : renamed(field, rename);
  }
  return result;
}

/** There are a few hundred declared fields, but callers may send any. */
function known(keys: Map<string, string>, key: string, rename: (key: string) => string): string {
  const found = keys.get(key);
  if (found !== undefined) return found;
  const name = rename(key);
  if (keys.size < 1_000) keys.set(key, name);
  return name;
}
