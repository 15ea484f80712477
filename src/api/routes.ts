/**
 * Every route of the HTTP API. The server adds schemas and a handler to each (src/http/handlers), clients call them. `Client` imports
 * only its own part, so that browsers do not load the rest.
 */

import { clientRoutes } from './client-routes.ts';
import { sessionRoutes } from './session-routes.ts';
import { workerRoutes } from './worker-routes.ts';

export const routes = { ...clientRoutes, ...sessionRoutes, ...workerRoutes };

export type RouteName = keyof typeof routes;

/** The path of the dashboard, which is not part of the API. */
export const PAGE_PATH = '/ui';

/** The path of the documentation, which is not part of the API either. */
export const DOCS_PATH = '/docs';
