/** The dashboard's files, as Vite built them: served from memory, compressed once, to whoever asks. They hold no data. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packageFolder } from '../ops/package-folder.ts';

/** Where Vite puts the build. */
export const PAGE_FOLDER = join(packageFolder, 'dist-ui');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json; charset=utf-8',
};

/** Nothing but the page's own files is run, shown or asked, whatever a job prints; and nobody may frame it. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const NO_BUILD =
  'The dashboard has not been built here. Run `npm install` (or `npm run build:ui`) in the folder of Workron, then load this page again.\n';

export interface PageFile {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

export interface PageRequest {
  'accept-encoding'?: string;
  'if-none-match'?: string;
  /** From the address that was asked for to the folder of the page: `./`, `../` … */
  up: string;
}

interface Stored {
  body: Buffer;
  packed: Buffer;
  etag: string;
}

export class Page {
  readonly #folder: string;
  readonly #files = new Map<string, Stored>();

  constructor(folder: string = PAGE_FOLDER) {
    this.#folder = folder;
  }

  /** The file at this place below `/ui/`; every place that is no file is one of the page's own screens. */
  answer(place: string, { up, ...headers }: PageRequest): PageFile {
    const asset = /^(?:assets\/)?[\w.-]+\.(?:js|css|svg|png)$/.test(place);
    const found = asset ? this.#find(place) : this.#screen(up);
    if (found === undefined) {
      const text = asset ? `There is no ${place}\n` : NO_BUILD;
      return { status: asset ? 404 : 503, headers: plain('text/plain; charset=utf-8'), body: Buffer.from(text) };
    }
    const common = {
      ...plain(TYPES[asset ? extname(place) : '.html'] ?? 'application/octet-stream'),
      etag: found.etag,
      vary: 'accept-encoding',
      // Names under assets/ hold a hash of what is in the file.
      'cache-control': place.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    };
    if (headers['if-none-match'] === found.etag) return { status: 304, headers: common, body: Buffer.alloc(0) };
    const packs = /\bgzip\b/.test(headers['accept-encoding'] ?? '');
    return packs
      ? { status: 200, headers: { ...common, 'content-encoding': 'gzip' }, body: found.packed }
      : { status: 200, headers: common, body: found.body };
  }

  /** The page names its files by where they are from `./`, which depends on how deep the screen's address is. */
  #screen(up: string): Stored | undefined {
    const found = this.#find('index.html');
    if (found === undefined || up === './') return found;
    return pack(Buffer.from(found.body.toString().replaceAll('="./', `="${up}`)));
  }

  #find(name: string): Stored | undefined {
    const known = this.#files.get(name);
    if (known !== undefined) return known;
    let body: Buffer;
    try {
      body = readFileSync(join(this.#folder, name));
    } catch {
      return undefined;
    }
    const stored = pack(body);
    this.#files.set(name, stored);
    return stored;
  }
}

function pack(body: Buffer): Stored {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { body, packed: gzipSync(body, { level: 9 }), etag };
}

function plain(type: string): Record<string, string> {
  return {
    'content-type': type,
    'content-security-policy': PAGE_POLICY,
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-store',
  };
}
