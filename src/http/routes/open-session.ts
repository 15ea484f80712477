import { Session } from '../../api/session.ts';
import { defineRoute } from '../route.ts';
import { openSession } from '../session.ts';

/** The token comes in the header, as everywhere: so no form of another site can log anybody in. */
export const openSessionRoute = defineRoute({
  method: 'POST',
  path: '/session',
  scope: 'read',
  summary: 'Log in: with the token in Authorization, sets a cookie that stands for it in this browser',
  answers: { 200: Session },
  handle: ({ principal, token, now, headers }) => ({
    status: 200,
    json: { name: principal.name, token_needed: token !== null },
    ...(token !== null && { headers: { 'set-cookie': openSession(token, now(), headers) } }),
  }),
});
