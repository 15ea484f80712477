/** Helpers to declare messages: strict objects with suggestions for typing errors, and names for the API document. */

import { z } from 'zod';
import { didYouMean } from '../core/suggest.ts';

/** The messages that have a name in the API document. */
export const namedSchemas = z.registry<{ id: string }>();

/** Gives a message its name in the API document. */
export function named<S extends z.ZodType>(id: string, schema: S): S {
  namedSchemas.add(schema, { id });
  return schema;
}

/** How many unknown fields of one object get a suggestion. */
const MAX_SUGGESTIONS = 100;

/** An object that refuses unknown fields, with a suggestion for each, one a line. `hints` say what to do instead of fields that others have. */
export function strict<S extends z.core.$ZodLooseShape>(shape: S, hints: Readonly<Record<string, string>> = {}) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return undefined;
      return issue.keys
        .slice(0, MAX_SUGGESTIONS)
        .map((key) => hints[key] ?? unknownField(key, known))
        .join('\n');
    },
  });
}

/** A body without fields. */
export const nothing = strict({});
/** An object whose fields are ignored. */
export const anything = z.looseObject({});
/** A reply without fields. */
export const noFields = z.object({});

function unknownField(key: string, known: readonly string[]): string {
  const suggestion = didYouMean(key, known);
  return suggestion === undefined ? `unknown field; known are ${known.join(', ')}` : `unknown field; ${suggestion}`;
}

/** One page of a list; `next_cursor` is `null` at the end. */
export function pageOf<S extends z.ZodType>(item: S) {
  return z.object({ items: z.array(item), next_cursor: z.string().nullable() });
}

export function itemsOf<S extends z.ZodType>(item: S) {
  return z.object({ items: z.array(item) });
}
