/** `COPY … FROM STDIN`, as fast as the server takes it. */

import type pg from 'pg';

/** The part of the driver's connection that a copy uses. */
interface CopyConnection {
  stream: { once(event: 'drain', listener: () => void): void; writableNeedDrain: boolean };
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

const CHUNK_CHARACTERS = 256 * 1024;

/** Sends lines in COPY's text format. The driver calls the methods, as it calls those of its own queries. */
class CopyIn {
  readonly done: Promise<void>;
  readonly #text: string;
  readonly #lines: Iterable<string>;
  #resolve: () => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  #failed: Error | undefined;

  constructor(text: string, lines: Iterable<string>) {
    this.#text = text;
    this.#lines = lines;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  submit(connection: CopyConnection): void {
    connection.query(this.#text);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    void this.#send(connection);
  }

  handleCommandComplete(): void {
    // What follows is handleReadyForQuery.
  }

  handleError(error: Error): void {
    this.#failed ??= error;
    this.#reject(this.#failed);
  }

  handleReadyForQuery(): void {
    if (this.#failed === undefined) this.#resolve();
    else this.#reject(this.#failed);
  }

  async #send(connection: CopyConnection): Promise<void> {
    try {
      let chunk = '';
      for (const line of this.#lines) {
        chunk += line;
        if (chunk.length < CHUNK_CHARACTERS) continue;
        connection.sendCopyFromChunk(Buffer.from(chunk));
        chunk = '';
        if (this.#failed !== undefined) return;
        if (connection.stream.writableNeedDrain) {
          await new Promise<void>((resolve) => connection.stream.once('drain', resolve));
        }
      }
      if (chunk !== '') connection.sendCopyFromChunk(Buffer.from(chunk));
      connection.endCopyFrom();
    } catch (error) {
      this.#failed = error as Error;
      connection.sendCopyFail('the source could not be read');
    }
  }
}

export async function copyIn(client: pg.Client, statement: string, lines: Iterable<string>): Promise<void> {
  const copy = new CopyIn(statement, lines);
  client.query(copy as unknown as pg.Submittable);
  await copy.done;
}

/** One value in COPY's text format. */
export function copyValue(text: string | null): string {
  if (text === null) return '\\N';
  return text.replace(/[\\\n\r\t]/g, (character) => ESCAPES[character] as string);
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
