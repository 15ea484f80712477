/** Writes a whole installation as JSON lines. */

import { createWriteStream, linkSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { countText } from '../../api/count-text.ts';
import { requireNew } from '../../ops/new-file.ts';
import type { StoreChoice } from '../../ops/settings/settings.ts';
import { syncPath } from '../../ops/sync-path.ts';
import { Sum } from '../promote/sum.ts';
import { version } from '../version.ts';
import {
  type ExportEnd,
  type ExportSource,
  encodeRow,
  FORMAT,
  FORMAT_VERSION,
  type Header,
  type TableEnd,
  type TableLine,
} from './format.ts';

const CHUNK_CHARACTERS = 256 * 1024;

export interface ExportOptions {
  store: Exclude<StoreChoice, { driver: 'memory' }>;
  schema: string;
  /** Reports each table. */
  tell: (line: string) => void;
}

/** Writes into a stream, which stays open. Returns the number of rows. */
export async function exportTo(target: Writable, options: ExportOptions): Promise<number> {
  return await withSource(options, async (source) => {
    const written = { rows: 0 };
    const chunks = Readable.from(inChunks(linesOf(source, { tell: options.tell, written })));
    await pipeline(chunks, target, { end: false });
    return written.rows;
  });
}

/** The file appears once it is complete and on disk, readable by its owner only. An existing file is not overwritten. */
export async function exportToFile(file: string, options: ExportOptions): Promise<number> {
  requireNew(file);
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  try {
    const stream = createWriteStream(partial, { mode: 0o600, flags: 'wx', flush: true });
    const rows = await exportTo(stream, options);
    await new Promise<void>((resolve, reject) => {
      stream.once('error', reject).end(resolve);
    });
    linkSync(partial, file);
    syncPath(dirname(file));
    return rows;
  } finally {
    rmSync(partial, { force: true });
  }
}

async function withSource<T>({ store, schema }: ExportOptions, body: (source: ExportSource) => Promise<T>): Promise<T> {
  if (store.driver === 'sqlite') {
    return await (await import('./sqlite-source.ts')).withSqliteSource(store.file, body);
  }
  return await (await import('./postgres-source.ts')).withPostgresSource({ url: store.url, schema }, body);
}

interface Written {
  tell: ExportOptions['tell'];
  written: { rows: number };
}

async function* linesOf(source: ExportSource, { tell, written }: Written): AsyncGenerator<string> {
  const { schemaVersion, installation, ids, tables } = source;
  const header: Header = {
    format: FORMAT,
    format_version: FORMAT_VERSION,
    schema_version: schemaVersion,
    workron: version,
    exported_at: new Date().toISOString(),
    installation,
    ids,
  };
  yield JSON.stringify(header);
  for (const table of tables) {
    yield JSON.stringify({ table: table.name, columns: table.columns } satisfies TableLine);
    const sum = new Sum();
    for await (const row of source.rows(table)) {
      const line = encodeRow(row);
      sum.add(line);
      yield line;
    }
    yield JSON.stringify({ end: table.name, ...sum.result } satisfies TableEnd);
    if (sum.result.rows > 0) tell(`${table.name}: ${countText(sum.result.rows, 'row')}`);
    written.rows += sum.result.rows;
  }
  yield JSON.stringify({ end: null, tables: tables.length, rows: written.rows } satisfies ExportEnd);
}

async function* inChunks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = '';
  for await (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}
