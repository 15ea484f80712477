/** The HTTP API for a server of the application, as applications see it. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TokenRole } from '../core/token.ts';

/** A user of the application. */
export interface MountUser {
  /** Who it is, in the audit and on what they submit. */
  name: string;
  role: TokenRole;
  /** Roles `submitter` and `worker`: the only queues that they may use; `null`: all. */
  queues?: readonly string[] | null | undefined;
}

export interface MountOptions {
  /**
   * Returns the user of a request and their role; `null` refuses it. `node` passes the request of Node, `fetch` the `Request`.
   * Without it, everybody whom the application lets through may do everything.
   */
  authorize?: ((request: IncomingMessage | Request) => MountUser | null | Promise<MountUser | null>) | undefined;
  /** The prefix of the API's paths, such as `/workron`, if the host's router does not remove it. */
  prefix?: string | undefined;
}

export interface Mounted {
  /** For node:http, Express, Connect: `app.use('/workron', node)`, before or after body parsers. */
  readonly node: (request: IncomingMessage, response: ServerResponse) => void;
  /** For Next, Hono, Bun and others that use `Request` and `Response`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Ends streams and long polls; `stop` does it too. */
  close(): Promise<void>;
}
