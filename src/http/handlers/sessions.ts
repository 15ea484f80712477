/** Sessions of the dashboard: log in and out, links that log in, tickets for downloads. */

import { routes } from '../../api/routes.ts';
import { noFields } from '../../api/schemas.ts';
import { Link, OpenedSession, Session, Ticket, TicketRequest } from '../../api/session.ts';
import { WorkronError } from '../../core/error.ts';
import type { SessionOwner } from '../../core/session.ts';
import { linkPath } from '../authenticate.ts';
import { type Call, handler } from '../handler.ts';
import { newCookieName, noSessionCookie, sessionCookie, sessionIn } from '../session.ts';

const LINK_LIFE_MS = 600_000;

export const sessionHandlers = {
  readSession: handler(routes.readSession, {
    summary: 'Read who is logged in, and what they may do',
    quiet: true,
    replies: { 200: Session },
    handle: (call) => ({ status: 200, json: sessionOf(call) }),
  }),

  // The token is sent in the header, as everywhere, so that a form of another site cannot log anybody in.
  openSession: handler(routes.openSession, {
    summary: 'Log in: with a token in Authorization, returns a cookie and a key that replace it in this browser',
    replies: { 200: OpenedSession },
    async handle(call) {
      const { token, headers, isEncrypted, scheduler, signal } = call;
      if (token === null) return { status: 200, json: { ...sessionOf(call), key: null } };
      const halves = await scheduler.openSession(tokenOwnerOf(call), newCookieName(headers), signal);
      const setCookie = { 'set-cookie': sessionCookie(halves, isEncrypted) };
      return { status: 200, json: { ...sessionOf(call), key: halves.key }, headers: setCookie };
    },
  }),

  endSession: handler(routes.endSession, {
    summary: 'Log out: ends the session on every scheduler, and deletes the cookie of the browser',
    replies: { 200: noFields },
    async handle({ token, headers, isEncrypted, scheduler, signal }) {
      if (token === null) return { status: 200, json: {} };
      const session = sessionIn(headers);
      if (session !== undefined) await scheduler.endSession(session, signal);
      const deleted = noSessionCookie(headers, isEncrypted);
      return { status: 200, json: {}, headers: deleted === undefined ? {} : { 'set-cookie': deleted } };
    },
  }),

  createTicket: handler(routes.createTicket, {
    summary: 'Get a ticket for one download by a link, which cannot carry the key of a session',
    body: TicketRequest,
    replies: { 201: Ticket },
    async handle(call) {
      const request = `GET ${call.body.path}`;
      return { status: 201, json: { ticket: await call.scheduler.createTicket(ownerOf(call), request, call.signal) } };
    },
  }),

  createLink: handler(routes.createLink, {
    summary: 'Get a link to the dashboard that logs in whoever opens it first',
    replies: { 201: Link },
    async handle(call) {
      const code = await call.scheduler.createLink(tokenOwnerOf(call), LINK_LIFE_MS, call.signal);
      return { status: 201, json: { path: linkPath(code) } };
    },
  }),
};

function sessionOf({ principal, token }: Call): Session {
  const { name, scopes, queues } = principal;
  return {
    name,
    token_needed: token !== null && principal.owner !== null,
    scopes: [...scopes],
    queues: queues === null ? null : [...queues],
  };
}

function ownerOf({ principal }: Call): SessionOwner {
  if (principal.owner !== null) return principal.owner;
  throw new WorkronError('forbidden', `${principal.name} cannot have a session`);
}

/** What outlives a session is made with a token or a link only: so seven days are a bound, and logging out an end. */
function tokenOwnerOf(call: Call): SessionOwner {
  const owner = ownerOf(call);
  if (owner.parent === null) return owner;
  throw new WorkronError('forbidden', 'A session opens no other session or link: send the token in Authorization');
}
