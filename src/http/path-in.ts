import type { FastifyRequest } from 'fastify';

/** The path of a request, without its query. */
export function pathIn(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '/';
}

/** Whether a path fits the path of a route, which has `:name` for each parameter. */
export function matches(pattern: string, path: string): boolean {
  const parts = pattern.split('/');
  const given = path.replace(/\/$/, '').split('/');
  return (
    parts.length === given.length &&
    parts.every((part, i) => (part.startsWith(':') ? given[i] !== '' : part === given[i]))
  );
}
