/** Files of a folder, read once, kept in memory and compressed once. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

export interface PackedFile {
  body: Buffer;
  packed: Buffer;
  etag: string;
}

export class PackedFiles {
  readonly #folder: string;
  readonly #files = new Map<string, PackedFile>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  find(name: string): PackedFile | undefined {
    const known = this.#files.get(name);
    if (known !== undefined) return known;
    let body: Buffer;
    try {
      body = readFileSync(join(this.#folder, name));
    } catch {
      return undefined;
    }
    const file = pack(body);
    this.#files.set(name, file);
    return file;
  }
}

export function pack(body: Buffer): PackedFile {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { body, packed: gzipSync(body, { level: 9 }), etag };
}

interface Asked {
  'accept-encoding'?: string | string[] | undefined;
  'if-none-match'?: string | undefined;
}

export interface FileAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** Compressed if the caller takes that; without the body if the caller has it. */
export function answerFile(file: PackedFile, asked: Asked, headers: Readonly<Record<string, string>>): FileAnswer {
  const common = { ...headers, etag: file.etag, vary: 'accept-encoding' };
  if (asked['if-none-match'] === file.etag) return { status: 304, headers: common, body: Buffer.alloc(0) };
  return /\bgzip\b/.test(String(asked['accept-encoding'] ?? ''))
    ? { status: 200, headers: { ...common, 'content-encoding': 'gzip' }, body: file.packed }
    : { status: 200, headers: common, body: file.body };
}
