import { Session } from '../../api/session.ts';
import { defineRoute } from '../route.ts';

export const readSession = defineRoute({
  method: 'GET',
  path: '/session',
  scope: 'read',
  summary: 'Who is logged in',
  quiet: true,
  answers: { 200: Session },
  handle: ({ principal, token }) => ({
    status: 200,
    json: { name: principal.name, token_needed: token !== null },
  }),
});
