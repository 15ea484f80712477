/** The server itself: welcome, health, metrics, API document. */

import { Health, Readiness, Welcome } from '../../api/health.ts';
import { PAGE_PATH, routes } from '../../api/routes.ts';
import { anything } from '../../api/schemas.ts';
import { handler } from '../handler.ts';

export const systemHandlers = {
  readRoot: handler(routes.readRoot, {
    summary: 'Read what this server is and where to find more',
    replies: { 200: Welcome },
    handle: ({ version, headers, isEncrypted }) => ({
      status: 200,
      json: {
        name: 'workron',
        version,
        page: `${PAGE_PATH}/`,
        api: routes.readDocument.path,
        try: `curl -d '{"command":"echo hi"}' http${isEncrypted ? 's' : ''}://${headers.host ?? 'localhost'}${routes.submitJobs.path}`,
      },
    }),
  }),

  readHealth: handler(routes.readHealth, {
    summary:
      'Check liveness: 200 while every loop of this process has started a round recently, whatever the database does',
    quiet: true,
    replies: { 200: Health, 503: Health },
    handle({ scheduler, version }) {
      const { instanceId, uptimeMs, stuck } = scheduler.health();
      const isWell = stuck.length === 0;
      const json = {
        status: isWell ? ('ok' as const) : ('stuck' as const),
        instance_id: instanceId,
        uptime_seconds: Math.floor(uptimeMs / 1_000),
        version,
        driver: scheduler.driver,
        stuck,
      };
      return { status: isWell ? 200 : 503, json };
    },
  }),

  readReady: handler(routes.readReady, {
    summary:
      'Check readiness: 503 while the database is unavailable, its disk is full, or this process is shutting down',
    quiet: true,
    replies: { 200: Readiness, 503: Readiness },
    async handle({ scheduler, signal }) {
      const { ready, problems } = await scheduler.ready(signal);
      return { status: ready ? 200 : 503, json: { ready, problems } };
    },
  }),

  readMetrics: handler(routes.readMetrics, {
    summary: 'Read metrics for Prometheus',
    quiet: true,
    replies: { 200: { type: 'text/plain' } },
    async handle({ scheduler, signal }) {
      const { contentType, body } = await scheduler.metrics(signal);
      return { status: 200, type: contentType, text: body };
    },
  }),

  readDocument: handler(routes.readDocument, {
    summary: 'Read this API as an OpenAPI 3.1 document',
    replies: { 200: anything },
    handle: ({ document }) => ({ status: 200, json: document() }),
  }),
};
