/** Names of fields: camelCase in TypeScript, snake_case on the wire, for declared fields only. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { z } from 'zod';
import { toCamel, toWire } from '../../src/api/case.ts';
import { clientRoutes } from '../../src/api/client-routes.ts';
import { HANDLERS } from '../../src/http/handlers.ts';

/** Whether the value of a field is passed on as it is. */
function isOpaque(field: string): boolean {
  const [value] = Object.values(toCamel({ [field]: { some_key: 1 } }) as Record<string, object>);
  return value !== undefined && 'some_key' in value;
}

interface Found {
  declared: Set<string>;
  /** Fields with values of users below them. */
  opaque: Set<string>;
  /** Fields with declared fields of several words below them. */
  walked: Set<string>;
}

type Def = z.core.$ZodTypeDef & Record<string, unknown>;

/** Looks through a schema. `fields`: the names on the way to it. */
function look(schema: unknown, fields: readonly string[], found: Found, seen: Set<unknown>): void {
  const def = (schema as { _zod?: { def: Def } } | undefined)?._zod?.def;
  if (def === undefined || seen.has(schema)) return;
  const within = new Set([...seen, schema]);
  const field = fields.at(-1);
  if (['unknown', 'any'].includes(def.type) || (def.type === 'record' && !hasKnownKeys(def))) {
    const owner = fields.find(isOpaque) ?? field;
    if (owner !== undefined) found.opaque.add(owner);
  }
  if (def.type === 'object') {
    for (const [name, inner] of Object.entries(def['shape'] as object)) {
      found.declared.add(name);
      if (name.includes('_')) for (const outer of fields) found.walked.add(outer);
      look(inner, [...fields, name], found, within);
    }
  }
  const parts = [
    def['element'],
    def['innerType'],
    def['in'],
    def['valueType'],
    ...((def['options'] ?? []) as unknown[]),
  ];
  if (def.type === 'lazy') parts.push((def['getter'] as () => unknown)());
  for (const part of parts) look(part, fields, found, within);
}

function hasKnownKeys(def: Def): boolean {
  return (def['keyType'] as { _zod: { def: Def } })._zod.def.type === 'enum';
}

test('case: the values of users are below opaque fields, and nothing that is declared is', () => {
  const found: Found = { declared: new Set(), opaque: new Set(), walked: new Set() };
  for (const { name, query, body, documentedBody, replies } of HANDLERS) {
    if (!Object.hasOwn(clientRoutes, name)) continue;
    for (const schema of [query, body, documentedBody, ...Object.values(replies)]) look(schema, [], found, new Set());
  }
  assert.deepEqual([...found.opaque].sort(), [...found.declared].filter(isOpaque).sort());
  assert.deepEqual([...found.walked].filter(isOpaque), []);
});

test('case: declared fields are renamed both ways, values of users are not', () => {
  const wire = {
    max_attempts: 3,
    input: { some_key: [{ other_key: 1 }] },
    depends_on: [{ job_id: '1' }],
    env: { MY_VAR: 'x', my_var: 'y' },
    resources: { memory_mb: 5 },
    run_at: null,
  };
  const camel = {
    maxAttempts: 3,
    input: { some_key: [{ other_key: 1 }] },
    dependsOn: [{ jobId: '1' }],
    env: { MY_VAR: 'x', my_var: 'y' },
    resources: { memory_mb: 5 },
    runAt: null,
  };
  assert.deepEqual(toCamel(wire), camel);
  assert.deepEqual(toWire(camel as never), wire);
  assert.deepEqual(toWire({ runAt: new Date(0), queue: undefined } as never), { run_at: '1970-01-01T00:00:00.000Z' });
});
