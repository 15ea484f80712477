/** Random values that a JSON schema allows, and values that it mostly rejects. */

export type JsonSchema = Record<string, any>;

/** Returns a generator of numbers in [0, 1), with the same sequence for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export class SchemaValues {
  readonly #random: () => number;
  readonly #components: JsonSchema;

  constructor(components: JsonSchema, random: () => number) {
    this.#components = components;
    this.#random = random;
  }

  pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)] as T;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  valid(schema: JsonSchema): unknown {
    if (schema['$ref'] !== undefined) return this.valid(this.#components[schema['$ref'].split('/').at(-1)]);
    if (schema['examples'] !== undefined) return this.pick(schema['examples']);
    if (schema['const'] !== undefined) return schema['const'];
    if (schema['enum'] !== undefined) return this.pick(schema['enum']);
    if (schema['default'] !== undefined && this.chance(0.3)) return schema['default'];
    const choices = schema['anyOf'] ?? schema['oneOf'];
    // Next to `properties`, the branches only say which properties exclude each other.
    if (choices !== undefined && schema['properties'] === undefined) return this.valid(this.pick(choices));
    const type = Array.isArray(schema['type']) ? this.pick(schema['type']) : schema['type'];
    switch (type) {
      case 'object':
        return this.#object(schema);
      case 'array':
        return Array.from({ length: Math.floor(this.#random() * 3) }, () => this.valid(schema['items'] ?? {}));
      case 'string':
        return this.pick(['a', 'job-1', 'ümläut', '日本', "it's", '<script>', '../..', 'x'.repeat(30)]).slice(
          0,
          schema['maxLength'],
        );
      case 'integer':
      case 'number':
        return this.#number(schema, type === 'integer');
      case 'boolean':
        return this.chance(0.5);
      case 'null':
        return null;
      default:
        return this.pick<unknown>([null, 1, 'text', [1, { a: 'b' }], { deep: { er: [true] } }]);
    }
  }

  /** The value with a wrong or unusual part somewhere in it. */
  broken(value: unknown): unknown {
    if (typeof value === 'object' && value !== null && this.chance(0.8)) {
      const copy: any = Array.isArray(value) ? [...value] : { ...value };
      const keys = Object.keys(copy);
      if (keys.length === 0 || this.chance(0.2))
        copy[this.pick(['comand', '0', '', '__x', 'constructor', 'toString'])] = this.#odd();
      else {
        const key = this.pick(keys);
        copy[key] = this.broken(copy[key]);
      }
      return copy;
    }
    return this.#odd();
  }

  #odd(): unknown {
    return this.pick<unknown>([
      null,
      true,
      -1,
      0,
      1.5,
      1e308,
      -0,
      2 ** 53,
      '',
      ' ',
      '\0',
      '\ud800',
      'x'.repeat(5_000),
      '9'.repeat(40),
      '-1',
      '1e9',
      'NaN',
      '\u202e',
      [],
      {},
      [[[]]],
      { a: '\0' },
      { toJSON: 1 },
      'undefined',
      '2030-13-45T99:99:99Z',
      '1h1h',
    ]);
  }

  #object(schema: JsonSchema): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    for (const [name, field] of Object.entries<JsonSchema>(schema['properties'] ?? {})) {
      if (schema['required']?.includes(name) || this.chance(0.3)) made[name] = this.valid(field);
    }
    return made;
  }

  #number(schema: JsonSchema, whole: boolean): number {
    const min = Math.max(schema['minimum'] ?? -1_000, -1_000_000);
    const max = Math.min(schema['maximum'] ?? 1_000, 1_000_000);
    const value = min + this.#random() * (max - min);
    return this.chance(0.2) ? this.pick([min, max]) : whole ? Math.floor(value) : value;
  }
}
