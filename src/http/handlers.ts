/** The handler of every route, in the order of the table. */

import { type RouteName, routes } from '../api/routes.ts';
import type { RouteHandler } from './handler.ts';
import { attemptHandlers } from './handlers/attempts.ts';
import { auditHandlers } from './handlers/audit.ts';
import { capacityHandlers } from './handlers/capacity.ts';
import { definitionHandlers } from './handlers/definitions.ts';
import { jobHandlers } from './handlers/jobs.ts';
import { notifyHandlers } from './handlers/notify.ts';
import { outputHandlers } from './handlers/output.ts';
import { overviewHandlers } from './handlers/overview.ts';
import { queueHandlers } from './handlers/queues.ts';
import { scheduleHandlers } from './handlers/schedules.ts';
import { secretHandlers } from './handlers/secrets.ts';
import { sessionHandlers } from './handlers/sessions.ts';
import { systemHandlers } from './handlers/system.ts';
import { tickHandlers } from './handlers/ticks.ts';
import { tokenHandlers } from './handlers/tokens.ts';
import { workerHandlers } from './handlers/workers.ts';
import { workflowHandlers } from './handlers/workflows.ts';

/** A route without a handler does not compile. */
const byName: Record<RouteName, Omit<RouteHandler, 'name'>> = {
  ...jobHandlers,
  ...definitionHandlers,
  ...workflowHandlers,
  ...scheduleHandlers,
  ...tickHandlers,
  ...queueHandlers,
  ...capacityHandlers,
  ...workerHandlers,
  ...attemptHandlers,
  ...outputHandlers,
  ...overviewHandlers,
  ...secretHandlers,
  ...tokenHandlers,
  ...notifyHandlers,
  ...auditHandlers,
  ...sessionHandlers,
  ...systemHandlers,
};

export const HANDLERS: readonly RouteHandler[] = (Object.keys(routes) as RouteName[]).map((name) => ({
  name,
  ...byName[name],
}));
