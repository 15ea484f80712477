/** The routes for sessions of browsers. Only types are imported here. */

import type { z } from 'zod';
import { route } from './route.ts';
import type { Link, OpenedSession, Session, Ticket, TicketRequest } from './session.ts';

export const sessionRoutes = {
  readSession: route('GET /session', 'read').of<{ reply: Session }>(),
  openSession: route('POST /session', 'read').of<{ reply: OpenedSession }>(),
  endSession: route('DELETE /session', 'read').of<{ reply: Record<string, never> }>(),
  createTicket: route('POST /session/tickets', 'read').of<{ body: z.input<typeof TicketRequest>; reply: Ticket }>(),
  createLink: route('POST /session/links', 'read').of<{ reply: Link }>(),
};
