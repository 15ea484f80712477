import type { FastifyRequest } from 'fastify';

/** The path of a request, without its query. */
export function pathIn(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '/';
}
