import { Readiness } from '../../api/health.ts';
import { defineRoute } from '../route.ts';

export const readReady = defineRoute({
  method: 'GET',
  path: '/ready',
  scope: null,
  summary: 'Whether this process can take work: 503 while the database is away or it shuts down',
  quiet: true,
  answers: { 200: Readiness, 503: Readiness },
  async handle({ scheduler, signal }) {
    const { ready, problems } = await scheduler.ready(signal);
    return { status: ready ? 200 : 503, json: { ready, problems } };
  },
});
