import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Page } from './page.ts';

/** Serves the dashboard below `/ui/`. */
export function servePage(app: FastifyInstance, page: Page): void {
  for (const url of ['/ui', '/ui/*']) {
    app.route<{ Params: { '*'?: string } }>({
      method: ['GET', 'HEAD'],
      url,
      config: { page: true },
      handler: (request, reply) => {
        const { status, headers, body } = page.answer(request.params['*'] ?? '', {
          'accept-encoding': request.headers['accept-encoding'] ?? '',
          'if-none-match': request.headers['if-none-match'] ?? '',
        });
        return reply.code(status).headers(headers).send(body);
      },
    });
  }
}

/** A person's browser at the root wants the dashboard; programs get the API's welcome. */
export function leadsToPage(request: FastifyRequest): boolean {
  return request.method === 'GET' && request.url === '/' && /\btext\/html\b/.test(request.headers.accept ?? '');
}
