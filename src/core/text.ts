/** Text that every store can hold: without NUL and lone surrogates. */

/** The maximum nesting of JSON from outside, which bounds recursion in its readers. */
export const MAX_JSON_DEPTH = 64;

function isCleanText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Replaces characters that cannot be stored by U+FFFD. */
export function cleanText(text: string): string {
  return isCleanText(text) ? text : text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Cleans every text in a JSON value; values nested too deep become `null`. */
export function cleanJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_JSON_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => cleanJson(item, depth + 1));
  const entries = Object.entries(value).filter(([key]) => key !== '__proto__');
  return Object.fromEntries(entries.map(([key, item]) => [cleanText(key), cleanJson(item, depth + 1)]));
}

/** Returns the JSON pointer of the first value that cannot be stored, and why; `undefined` if there is none. */
export function findUnclean(value: unknown, depth = 0): { pointer: string; detail: string } | undefined {
  if (typeof value === 'string') {
    if (isCleanText(value)) return undefined;
    return { pointer: '', detail: 'text must not contain NUL or lone surrogates' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= MAX_JSON_DEPTH) return { pointer: '', detail: `nested deeper than ${MAX_JSON_DEPTH} levels` };
  for (const [key, item] of Object.entries(value)) {
    if (!Array.isArray(value) && (key === '__proto__' || !isCleanText(key))) {
      return { pointer: '', detail: `the field name ${JSON.stringify(key)} is not allowed` };
    }
    const found = findUnclean(item, depth + 1);
    if (found !== undefined) return { ...found, pointer: `/${pointerStep(key)}${found.pointer}` };
  }
  return undefined;
}

/** One step of a JSON pointer (RFC 6901). */
export function pointerStep(key: string | number): string {
  return String(key).replaceAll('~', '~0').replaceAll('/', '~1');
}
