/** The HTTP API for a server of the application, as applications see it. */

import type { IncomingMessage, ServerResponse } from 'node:http';

export interface MountOptions {
  /** The prefix of the API's paths, such as `/workron`, if the host's router does not remove it. */
  prefix?: string;
}

export interface Mounted {
  /** For node:http, Express, Connect: `app.use('/workron', node)`, before or after body parsers. */
  readonly node: (request: IncomingMessage, response: ServerResponse) => void;
  /** For Next, Hono, Bun and others that use `Request` and `Response`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Ends streams and long polls; `stop` does it too. */
  close(): Promise<void>;
}
