import { defineRoute } from '../route.ts';

export const readMetrics = defineRoute({
  method: 'GET',
  path: '/metrics',
  scope: 'read',
  summary: 'Figures for Prometheus',
  quiet: true,
  answers: { 200: { type: 'text/plain' } },
  async handle({ scheduler, signal }) {
    const { contentType, body } = await scheduler.metrics(signal);
    return { status: 200, type: contentType, text: body };
  },
});
