/** The session of a user of the dashboard. */

import { z } from 'zod';
import { SCOPES } from '../core/token.ts';
import { text } from './fields.ts';
import { named, strict } from './schemas.ts';

/** The header in which the page sends the key of its session. */
export const SESSION_HEADER = 'x-workron-session';

export const Session = named(
  'Session',
  z.object({
    name: z.string(),
    token_needed: z
      .boolean()
      .meta({ description: 'True if the server needs a token, so that logging out makes sense.' }),
    scopes: z.array(z.enum(SCOPES)).meta({ description: 'What the caller may do.' }),
    queues: z
      .array(z.string())
      .nullable()
      .meta({ description: 'The only queues that the caller may submit to; null: all.' }),
  }),
);
export type Session = z.output<typeof Session>;

export const OpenedSession = named(
  'OpenedSession',
  Session.extend({
    key: z
      .string()
      .nullable()
      .meta({ description: `To be sent as ${SESSION_HEADER} with the cookie; null if no token is needed.` }),
  }),
);
export type OpenedSession = z.output<typeof OpenedSession>;

export const TicketRequest = named(
  'TicketRequest',
  strict({
    path: text(2_048)
      .regex(/^\/[^?#]*$/, 'expected a path such as /jobs/12/logs, without a query')
      .meta({ examples: ['/jobs/12/logs'] }),
  }),
);

export const Ticket = named(
  'Ticket',
  z.object({
    ticket: z.string().meta({ description: 'Allows one GET of the path within a minute, as the parameter ticket.' }),
  }),
);
export type Ticket = z.output<typeof Ticket>;

export const Link = named(
  'Link',
  z.object({
    path: z.string().meta({ description: 'The path of the dashboard that opens a session, once, within ten minutes.' }),
  }),
);
export type Link = z.output<typeof Link>;
