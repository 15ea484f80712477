/** The type of a result is what is there after JSON. Most of this file is checked by the compiler. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { job, open } from '../../src/index.ts';
import type { Json } from '../../src/library/json.ts';

type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** Compiles only with `true`. */
const same = (...all: readonly true[]) => assert.ok(all[0]);

class Price {
  readonly cents: number;
  readonly note: string | undefined;
  constructor(cents: number) {
    this.cents = cents;
    this.note = undefined;
  }
  format(): string {
    return `${this.cents / 100}`;
  }
}

interface Tree {
  name: string;
  children: Tree[];
}

test('json: the type of a property that can be missing is optional, and what JSON drops is not there', () => {
  same(true satisfies Equal<Json<{ u: string | undefined }>, { u?: string }>);
  same(true satisfies Equal<Json<{ opt?: string; n: number }>, { n: number; opt?: string }>);
  same(true satisfies Equal<Json<{ f: () => void; s: symbol; v: undefined; n: null }>, { n: null }>);
  same(true satisfies Equal<Json<{ maybe: string | (() => void) }>, { maybe?: string }>);
  same(true satisfies Equal<Json<Map<string, number>>, Record<string, never>>);
  same(true satisfies Equal<Json<{ seen: Set<string> }>, { seen: Record<string, never> }>);
  same(true satisfies Equal<Json<Date>, string>);
  same(true satisfies Equal<Json<{ at: Date | undefined }>, { at?: string }>);
  same(true satisfies Equal<Json<undefined>, null>);
  same(true satisfies Equal<Json<void>, null>);
  same(true satisfies Equal<Json<[string | undefined, Date]>, [string | null, string]>);
  same(true satisfies Equal<Json<(number | undefined)[]>, (number | null)[]>);
  same(true satisfies Equal<Json<{ type: 'a'; n: number } | { type: 'b' }>, { type: 'a'; n: number } | { type: 'b' }>);
  same(true satisfies Equal<Json<Price>, { readonly cents: number; note?: string }>);
  same(true satisfies Equal<Json<unknown>, unknown>);
  same(true satisfies Equal<Json<Tree>['children'][number]['name'], string>);
  same(true satisfies Equal<Json<Record<string, number>>, Record<string, number>>);
  same(true satisfies Equal<Json<string & { readonly brand: 'id' }>, string & { readonly brand: 'id' }>);
});

test('json: a result has at run time what its type says', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  const shapes = job('shapes', {
    run: () => ({
      u: undefined as string | undefined,
      at: new Date(0),
      map: new Map([['a', 1]]),
      price: new Price(5),
      list: [undefined, 1] as (number | undefined)[],
    }),
  });
  await workron.start({ jobs: [shapes] });
  const result = await (await workron.submit(shapes)).result();
  // @ts-expect-error The property may be missing.
  assert.throws(() => result.u.length, TypeError);
  assert.equal(result.u?.length, undefined);
  assert.deepEqual(result, {
    at: '1970-01-01T00:00:00.000Z',
    map: {},
    price: { cents: 5 },
    list: [null, 1],
  });
});
