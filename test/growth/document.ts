import { WorkronError } from '../../src/core/error.ts';

/** A kind of document that somebody may send, in any size. */
export interface Document {
  name: string;
  /** The size at which growth is measured: large enough that what grows faster than the document outweighs the rest. */
  size: number;
  /** Makes a document of this size, and returns what reads it. */
  make: (size: number) => () => unknown;
  /** Whether a regular expression may go back in it, which steps do not show. */
  backtracks?: true;
}

/** A row of a table of documents. */
export type Row = [name: string, size: number, make: (n: number) => () => unknown];

export function documents(kind: string, rows: readonly Row[]): Document[] {
  return rows.map(([name, size, make]) => ({ name: `${kind}: ${name}`, size, make: (n) => () => attempt(make(n)) }));
}

export function many<T>(n: number, make: (i: number) => T): T[] {
  return Array.from({ length: n }, (_, i) => make(i));
}

/** `make(0) … make(n - 1)`, joined. */
export function times(n: number, make: (i: number) => string, separator = '\n'): string {
  return many(n, make).join(separator);
}

/** Calls a reader that may refuse the document. */
export function attempt(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof WorkronError) return error;
    throw error;
  }
}
