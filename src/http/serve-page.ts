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
          up: upFrom(request.url),
        });
        return reply.code(status).headers(headers).send(body);
      },
    });
  }
}

/** Relative, so that it holds wherever the server is mounted. By the address as sent: an escaped slash is no step. */
function upFrom(url: string): string {
  const below = (url.split('?', 1)[0] as string).slice('/ui'.length);
  if (below === '') return './ui/';
  return '../'.repeat(below.split('/').length - 2) || './';
}

/** A person's browser at the root wants the dashboard; programs get the API's welcome. */
export function leadsToPage(request: FastifyRequest): boolean {
  return request.method === 'GET' && request.url === '/' && /\btext\/html\b/.test(request.headers.accept ?? '');
}
