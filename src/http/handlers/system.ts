/** The server itself: welcome, health, metrics, API document, sessions of the dashboard. */

import { Health, Readiness, Welcome } from '../../api/health.ts';
import { PAGE_PATH, routes } from '../../api/routes.ts';
import { anything, noFields } from '../../api/schemas.ts';
import { Session } from '../../api/session.ts';
import { WorkronError } from '../../core/error.ts';
import { type Call, handler } from '../handler.ts';
import { endSession, openSession } from '../session.ts';

export const systemHandlers = {
  readRoot: handler(routes.readRoot, {
    summary: 'Read what this server is and where to find more',
    replies: { 200: Welcome },
    handle: ({ version, headers }) => ({
      status: 200,
      json: {
        name: 'workron',
        version,
        page: `${PAGE_PATH}/`,
        api: routes.readDocument.path,
        try: `curl -d '{"command":"echo hi"}' http://${headers.host ?? 'localhost'}${routes.submitJobs.path}`,
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

  readSession: handler(routes.readSession, {
    summary: 'Read who is logged in',
    quiet: true,
    replies: { 200: Session },
    handle: (call) => ({ status: 200, json: sessionOf(call) }),
  }),

  // The token is sent in the header, as everywhere, so that a form of another site cannot log anybody in.
  openSession: handler(routes.openSession, {
    summary: 'Log in: with the token in Authorization, sets a cookie that replaces it in this browser',
    replies: { 200: Session },
    handle(call) {
      const { token, now, headers } = call;
      const json = sessionOf(call);
      if (token === null) return { status: 200, json };
      if (call.principal.name !== 'token') {
        throw new WorkronError('forbidden', 'Only the configured token can open a session');
      }
      return { status: 200, json, headers: { 'set-cookie': openSession(token, now(), headers) } };
    },
  }),

  endSession: handler(routes.endSession, {
    summary: 'Log out: deletes the cookie of the browser',
    replies: { 200: noFields },
    handle({ token, headers }) {
      if (token === null) return { status: 200, json: {} };
      return { status: 200, json: {}, headers: { 'set-cookie': endSession(token, headers) } };
    },
  }),
};

function sessionOf({ principal, token }: Call<undefined, undefined>): Session {
  return { name: principal.name, token_needed: token !== null };
}
