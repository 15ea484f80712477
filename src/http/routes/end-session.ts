import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { endSession } from '../session.ts';

export const endSessionRoute = defineRoute({
  method: 'DELETE',
  path: '/session',
  scope: 'read',
  summary: 'Log out: makes the browser forget its cookie',
  answers: { 200: z.object({}) },
  handle: ({ token, headers }) => ({
    status: 200,
    json: {},
    ...(token !== null && { headers: { 'set-cookie': endSession(token, headers) } }),
  }),
});
