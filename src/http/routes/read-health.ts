import { Health } from '../../api/health.ts';
import { defineRoute } from '../route.ts';

export const readHealth = defineRoute({
  method: 'GET',
  path: '/health',
  scope: null,
  summary: 'Whether this process lives: 200 while every loop has begun a round lately, whatever the database does',
  quiet: true,
  answers: { 200: Health, 503: Health },
  handle({ scheduler, version }) {
    const { instanceId, uptimeMs, stuck } = scheduler.health();
    const json: Health = {
      status: stuck.length === 0 ? 'ok' : 'stuck',
      instance_id: instanceId,
      uptime_seconds: Math.floor(uptimeMs / 1_000),
      version,
      driver: scheduler.driver,
      stuck,
    };
    return { status: stuck.length === 0 ? 200 : 503, json };
  },
});
