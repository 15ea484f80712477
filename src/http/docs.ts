/** Serves the documentation as `npm run docs` built it. It needs no token: its files contain no data. */

import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { DOCS_PATH } from '../api/routes.ts';
import { answerFile, PackedFiles } from './packed-files.ts';
import { fileHeaders } from './page.ts';
import { pathIn } from './path-in.ts';

const DOCS_FOLDER = fileURLToPath(new URL('../../dist-docs/', import.meta.url));

const FILE = /^(?:images\/)?[\w-]+\.(?:html|js|css|json|svg|png)$/;

/** Adds the routes of the documentation. */
export function serveDocs(app: FastifyInstance): void {
  const files = new PackedFiles(DOCS_FOLDER);
  for (const url of [DOCS_PATH, `${DOCS_PATH}/*`]) {
    app.route<{ Params: { '*'?: string } }>({
      method: ['GET', 'HEAD'],
      url,
      config: { page: true },
      handler: (request, reply) => {
        // Links on the pages are relative to the folder.
        if (pathIn(request) === DOCS_PATH) return reply.redirect(`${DOCS_PATH}/`, 302);
        const name = request.params['*'] || 'index.html';
        const found = FILE.test(name) ? files.find(name) : undefined;
        if (found === undefined) {
          return reply
            .code(404)
            .headers(fileHeaders('missing.txt'))
            .send('There is no such page of the documentation\n');
        }
        const { status, headers, body } = answerFile(found, request.headers, {
          ...fileHeaders(name),
          'cache-control': 'no-cache',
        });
        return reply.code(status).headers(headers).send(body);
      },
    });
  }
}
