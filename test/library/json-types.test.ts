/** The type of a result is what is there after JSON. Most of this file is checked by the compiler. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { job, open } from '../../src/index.ts';
import type { Json } from '../../src/library/json.ts';

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the usual test of equal types
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- fails to compile unless the types are equal
function same<_A extends true>(): void {}

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
  same<Equal<Json<{ u: string | undefined }>, { u?: string }>>();
  same<Equal<Json<{ opt?: string; n: number }>, { n: number; opt?: string }>>();
  same<Equal<Json<{ f: () => void; s: symbol; v: undefined; n: null }>, { n: null }>>();
  same<Equal<Json<{ maybe: string | (() => void) }>, { maybe?: string }>>();
  same<Equal<Json<Map<string, number>>, Record<string, never>>>();
  same<Equal<Json<{ seen: Set<string> }>, { seen: Record<string, never> }>>();
  same<Equal<Json<Date>, string>>();
  same<Equal<Json<{ at: Date | undefined }>, { at?: string }>>();
  same<Equal<Json<undefined>, null>>();
  same<Equal<Json<void>, null>>();
  same<Equal<Json<[string | undefined, Date]>, [string | null, string]>>();
  same<Equal<Json<(number | undefined)[]>, (number | null)[]>>();
  same<Equal<Json<{ type: 'a'; n: number } | { type: 'b' }>, { type: 'a'; n: number } | { type: 'b' }>>();
  same<Equal<Json<Price>, { readonly cents: number; note?: string }>>();
  same<Equal<Json<unknown>, unknown>>();
  same<Equal<Json<Tree>['children'][number]['name'], string>>();
  same<Equal<Json<Record<string, number>>, Record<string, number>>>();
  same<Equal<Json<string & { readonly brand: 'id' }>, string & { readonly brand: 'id' }>>();
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
