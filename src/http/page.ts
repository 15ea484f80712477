/** Serves the dashboard as Vite built it, from memory and compressed once. Its files contain no data. */

import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { PAGE_PATH, routes } from '../api/routes.ts';
import { WorkronError } from '../core/error.ts';
import { answerFile, type FileAnswer, type PackedFile, PackedFiles, pack } from './packed-files.ts';

/** The folder of the build. */
const PAGE_FOLDER = fileURLToPath(new URL('../../dist-ui/', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** The page may load, run and contact nothing but its own server, whatever a job prints; and it cannot be framed. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The page is rewritten for the depth of its address. */
const MAX_PATH_LENGTH = 1_024;

const NO_BUILD =
  'The files of the dashboard are not here. In a clone of Workron, run `npm install` (or `npm run build:ui`), then load this page again. An application that was bundled with Workron does not contain them.\n';

interface PageRequest {
  'accept-encoding'?: string;
  'if-none-match'?: string;
  /** The relative path from the requested address to the folder of the page: `./`, `../` … */
  up: string;
}

export class Page {
  readonly #files: PackedFiles;

  constructor(folder: string = PAGE_FOLDER) {
    this.#files = new PackedFiles(folder);
  }

  /** Returns the file at this place below `PAGE_PATH`. A place that is not a file is a screen of the page. */
  answer(place: string, { up, ...headers }: PageRequest): FileAnswer {
    const asset = /^(?:assets\/)?[\w.-]+\.(?:js|css|svg|png|woff2)$/.test(place);
    const found = asset ? this.#files.find(place) : this.#screen(up);
    if (found === undefined) {
      const text = asset ? `There is no ${place}\n` : NO_BUILD;
      return { status: asset ? 404 : 503, headers: fileHeaders('page.txt'), body: Buffer.from(text) };
    }
    // Names under assets/ contain a hash of the file.
    const caching = place.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
    return answerFile(found, headers, { ...fileHeaders(asset ? place : 'index.html'), 'cache-control': caching });
  }

  /** The page refers to its files relative to `./`, so the prefix depends on the depth of the screen's address. */
  #screen(up: string): PackedFile | undefined {
    const found = this.#files.find('index.html');
    if (found === undefined || up === './') return found;
    return pack(Buffer.from(found.body.toString().replaceAll('="./', `="${up}`)));
  }
}

/** By the ending of the file's name. */
export function fileHeaders(name: string): Record<string, string> {
  return {
    'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
    'content-security-policy': PAGE_POLICY,
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-store',
  };
}

/** Adds the routes of the dashboard. */
export function servePage(app: FastifyInstance, page: Page): void {
  for (const url of [PAGE_PATH, `${PAGE_PATH}/*`]) {
    app.route<{ Params: { '*'?: string } }>({
      method: ['GET', 'HEAD'],
      url,
      config: { page: true },
      handler: (request, reply) => {
        if (pathOf(request).length > MAX_PATH_LENGTH) throw new WorkronError('not_found', 'There is no such page');
        const { status, headers, body } = page.answer(request.params['*'] ?? '', {
          'accept-encoding': request.headers['accept-encoding'] ?? '',
          'if-none-match': request.headers['if-none-match'] ?? '',
          up: upFrom(pathOf(request)),
        });
        return reply.code(status).headers(headers).send(body);
      },
    });
  }
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] as string;
}

/** Relative, so that it is right wherever the server is mounted. Counts the slashes as sent: an escaped slash is not a step. */
function upFrom(path: string): string {
  const below = path.slice(PAGE_PATH.length);
  if (below === '') return `.${PAGE_PATH}/`;
  return '../'.repeat(below.split('/').length - 2) || './';
}

/** True for a browser at the root, which is redirected to the dashboard; programs get the welcome of the API. */
export function isForPage(request: FastifyRequest): boolean {
  return (
    request.method === 'GET' &&
    request.url === routes.readRoot.path &&
    /\btext\/html\b/.test(request.headers.accept ?? '')
  );
}
