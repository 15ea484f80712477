/** The API document (OpenAPI 3.1), generated from the schemas that validate requests. */

import { z } from 'zod';
import { Problem } from '../api/problem-schema.ts';
import type { Route } from '../api/route.ts';
import { namedSchemas } from '../api/schemas.ts';
import type { ReplySchema, RouteHandler } from './handler.ts';

type JsonSchema = Record<string, unknown>;

const COMPONENTS = '#/components/schemas/';

export function apiDocument(handlers: readonly RouteHandler[], version: string): JsonSchema {
  const paths: Record<string, JsonSchema> = {};
  for (const handler of handlers) {
    const path = handler.route.path.replace(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[handler.route.method.toLowerCase()] = operationOf(handler);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Workron',
      version,
      summary: 'A job scheduler.',
      description: 'Errors are problem documents (RFC 9457) with a stable code.',
    },
    // Relative to this document: also where the API is mounted in another server.
    servers: [{ url: '.' }],
    security: [{}, { token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: components(),
    },
  };
}

function operationOf(handler: RouteHandler): JsonSchema {
  const { route } = handler;
  const requestBody = requestBodyOf(handler);
  return {
    operationId: operationId(route),
    summary: handler.summary,
    ...(route.scope === null ? { security: [] } : { 'x-scope': route.scope }),
    parameters: [...pathParameters(route.path), ...queryParameters(handler.query)],
    ...(requestBody !== undefined && { requestBody }),
    responses: {
      ...Object.fromEntries(Object.entries(handler.replies).map(([status, reply]) => [status, responseOf(reply)])),
      default: {
        description: 'The error',
        content: { 'application/problem+json': { schema: schemaOf(Problem) } },
      },
    },
  };
}

/** Such as `getJobsIdLogs`. */
function operationId({ method, path }: Route): string {
  const upperFirst = (_: string, first: string, rest: string) => first.toUpperCase() + rest;
  return method.toLowerCase() + path.replace(/\/:?(\w)(\w*)/g, upperFirst).replace(/\W/g, '');
}

function requestBodyOf({ body, documentedBody, rawBody }: RouteHandler): JsonSchema | undefined {
  if (rawBody !== undefined) {
    return { required: true, content: { [rawBody]: { schema: { type: 'string', format: 'binary' } } } };
  }
  const optional = body instanceof z.ZodOptional;
  const schema = optional ? (body.unwrap() as z.ZodType) : (body ?? documentedBody);
  if (schema === undefined) return undefined;
  return { required: !optional, content: { 'application/json': { schema: schemaOf(schema) } } };
}

function responseOf(reply: ReplySchema): JsonSchema {
  if (reply instanceof z.ZodType) {
    return { description: 'Reply', content: { 'application/json': { schema: schemaOf(reply) } } };
  }
  const schema = reply.schema === undefined ? { type: 'string' } : schemaOf(reply.schema);
  return { description: 'Reply', content: { [reply.type]: { schema } } };
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

/** Returns a reference if the schema has a name, else the schema itself. */
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
