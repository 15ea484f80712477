/** The API document (OpenAPI 3.1), made from the very schemas that validate. */

import { z } from 'zod';
import { Problem } from '../api/problem.ts';
import { namedSchemas } from '../api/schemas.ts';
import type { AnswerSchema, Route } from './route.ts';

type JsonSchema = Record<string, unknown>;

const COMPONENTS = '#/components/schemas/';

export function apiDocument(routes: readonly Route[], version: string): JsonSchema {
  const paths: Record<string, JsonSchema> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = operationOf(route);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Workron',
      version,
      summary: 'A job scheduler.',
      description: 'Errors are problem documents (RFC 9457) with a stable code.',
    },
    security: [{}, { token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: components(),
    },
  };
}

function operationOf(route: Route): JsonSchema {
  const body = route.body ?? route.documentedBody;
  return {
    operationId: `${route.method.toLowerCase()}${route.path.replace(/\/:?(\w)(\w*)/g, (_, first: string, rest: string) => first.toUpperCase() + rest).replace(/\W/g, '')}`,
    summary: route.summary,
    ...(route.scope === null ? { security: [] } : { 'x-scope': route.scope }),
    parameters: [...pathParameters(route.path), ...queryParameters(route.query)],
    ...(route.rawBody !== undefined && {
      requestBody: { required: true, content: { [route.rawBody]: { schema: { type: 'string', format: 'binary' } } } },
    }),
    ...(body !== undefined && {
      requestBody: { required: !route.bodyOptional, content: { 'application/json': { schema: schemaOf(body) } } },
    }),
    responses: {
      ...Object.fromEntries(Object.entries(route.answers).map(([status, answer]) => [status, answerOf(answer)])),
      default: {
        description: 'What went wrong',
        content: { 'application/problem+json': { schema: schemaOf(Problem) } },
      },
    },
  };
}

function answerOf(answer: AnswerSchema): JsonSchema {
  if (answer instanceof z.ZodType) {
    return { description: 'Answer', content: { 'application/json': { schema: schemaOf(answer) } } };
  }
  const schema = answer.schema === undefined ? { type: 'string' } : schemaOf(answer.schema);
  return { description: 'Answer', content: { [answer.type]: { schema } } };
}

function pathParameters(path: string): JsonSchema[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => {
    return { name, in: 'path', required: true, schema: { type: 'string' } };
  });
}

function queryParameters(query: z.ZodType | undefined): JsonSchema[] {
  if (!(query instanceof z.ZodObject)) return [];
  const { properties = {}, required = [] } = inline(query) as { properties?: JsonSchema; required?: string[] };
  return Object.entries(properties).map(([name, schema]) => {
    return { name, in: 'query', required: required.includes(name), schema };
  });
}

/** A reference where the schema has a name, else the schema itself. */
function schemaOf(schema: z.ZodType): JsonSchema {
  const name = namedSchemas.get(schema)?.id;
  return name === undefined ? inline(schema) : { $ref: COMPONENTS + name };
}

function inline(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}

function components(): JsonSchema {
  const { schemas } = z.toJSONSchema(namedSchemas, {
    io: 'input',
    unrepresentable: 'any',
    uri: (id) => COMPONENTS + id,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _schema, $id: _id, ...rest }]) => [name, rest]),
  );
}
