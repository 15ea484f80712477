/** Messages of the API as types of the library, from their schemas: in camelCase, with their descriptions. */

import { z } from 'zod';
import { toCamel } from '../../src/api/case.ts';
import { clientRoutes } from '../../src/api/client-routes.ts';
import { namedSchemas } from '../../src/api/schemas.ts';
import { HANDLERS } from '../../src/http/handlers.ts';

interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema | boolean;
  description?: string;
}

const { schemas } = z.toJSONSchema(namedSchemas, { io: 'output', unrepresentable: 'any', uri: (id) => id }) as {
  schemas: Record<string, JsonSchema>;
};

/** The declaration of a message. Those in `shown` have one of their own. */
export function messageText(name: string, shown: ReadonlySet<string>): string {
  return `interface ${name} ${typeText(schemas[name] as JsonSchema, '', shown)}`;
}

function typeText(schema: JsonSchema, indent: string, shown: ReadonlySet<string>): string {
  const { $ref, type, enum: values, anyOf, oneOf, items, properties, additionalProperties } = schema;
  const inner = (one: JsonSchema) => typeText(one, indent, shown);
  if ($ref !== undefined) return shown.has($ref) ? $ref : inner(schemas[$ref] as JsonSchema);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ');
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return [...new Set(choices.map(inner))].join(' | ');
  if (Array.isArray(type)) return type.map((one) => inner({ ...schema, type: one })).join(' | ');
  if (type === 'array') return items === undefined ? 'unknown[]' : listText(inner(items));
  if (properties !== undefined) return objectText(schema, indent, shown);
  if (typeof additionalProperties === 'object') return `Record<string, ${inner(additionalProperties)}>`;
  if (type === 'object') return 'Record<string, unknown>';
  return type === 'integer' ? 'number' : (type ?? 'unknown');
}

function listText(item: string): string {
  return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
}

function objectText(
  { properties = {}, required = [] }: JsonSchema,
  indent: string,
  shown: ReadonlySet<string>,
): string {
  const deeper = `${indent}  `;
  const lines = Object.entries(properties).map(([field, schema]) => {
    const [name = field] = Object.keys(toCamel({ [field]: 0 }));
    const comment = schema.description === undefined ? '' : `${deeper}/** ${schema.description} */\n`;
    return `${comment}${deeper}${name}${required.includes(field) ? '' : '?'}: ${typeText(schema, deeper, shown)};`;
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}

/** The operations that `api` has as methods, in a table. */
export function operationsTable(): string {
  const rows = HANDLERS.filter(({ name }) => Object.hasOwn(clientRoutes, name)).map(
    ({ name, route, summary, query, body, documentedBody }) => {
      const [, param] = /:(\w+)/.exec(route.path) ?? [];
      const given = query ?? body ?? documentedBody;
      const input = given instanceof z.ZodOptional ? given.unwrap() : given;
      const fields = input instanceof z.ZodObject ? Object.keys(toCamel(input.shape)) : [];
      const args = [
        ...(param === undefined ? [] : [param]),
        ...(fields.length === 0 ? [] : [`{ ${fields.join(', ')} }`]),
      ];
      return `| \`${name}(${args.join(', ')})\` | \`${route.method} ${route.path}\` | ${summary} |`;
    },
  );
  return ['| method of `api` | request | what it does |', '|---|---|---|', ...rows].join('\n');
}
