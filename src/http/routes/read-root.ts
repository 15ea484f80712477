import { z } from 'zod';
import { named } from '../../api/schemas.ts';
import { defineRoute } from '../route.ts';

const Welcome = named(
  'Welcome',
  z.object({ name: z.string(), version: z.string(), page: z.string(), api: z.string(), try: z.string() }),
);

export const readRoot = defineRoute({
  method: 'GET',
  path: '/',
  scope: 'read',
  summary: 'What this is and where to go on',
  answers: { 200: Welcome },
  handle: ({ version, headers }) => ({
    status: 200,
    json: {
      name: 'workron',
      version,
      page: '/ui/',
      api: '/openapi.json',
      try: `curl -d '{"command":"echo hi"}' http://${headers.host ?? 'localhost'}/jobs`,
    },
  }),
});
