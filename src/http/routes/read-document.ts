import { z } from 'zod';
import { defineRoute } from '../route.ts';

export const readDocument = defineRoute({
  method: 'GET',
  path: '/openapi.json',
  scope: 'read',
  summary: 'This API as an OpenAPI 3.1 document',
  answers: { 200: z.looseObject({}) },
  handle: ({ document }) => ({ status: 200, json: document() }),
});
