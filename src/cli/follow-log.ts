/** A job's output on stdout: what there is, or on until the job has ended. */

import type { CutEvent, OutputEvent } from '../api/event.ts';
import { readEvents, type StreamEvent } from '../api/event-stream.ts';
import { routes } from '../api/routes.ts';
import { CliError } from './cli-error.ts';
import type { Connection } from './connection.ts';
import { EXIT } from './exit-code.ts';
import { LogWriter } from './log-writer.ts';
import { Persistence } from './persist.ts';
import { note } from './report.ts';

/** The server says something every five seconds; after so long without it the connection is dead. */
const SILENCE_MS = 20_000;

export interface LogRequest {
  id: string;
  /** `undefined`: the present or last one, and, when followed, those after it. */
  attempt?: number | undefined;
  /** Only so many of the last lines. */
  tail?: number | undefined;
  signal?: AbortSignal;
}

/** What there is, byte for byte. */
export async function printLog(connection: Connection, request: LogRequest): Promise<void> {
  const response = await connection.open(routes.readLogs, {
    params: { id: request.id },
    query: { attempt: request.attempt },
    headers: { accept: 'text/plain' },
  });
  const writer = new LogWriter(request.tail);
  for await (const bytes of response.body) await writer.write(bytes);
  await writer.flush();
}

/** Until the job has ended; goes on where it was after the server was away. */
export async function followLog(connection: Connection, request: LogRequest): Promise<void> {
  const following = new Following(connection, request);
  while (!(await following.persistence.call(() => following.once(), request.signal)));
  await following.writer.flush();
}

class Following {
  readonly persistence = new Persistence();
  readonly writer: LogWriter;
  readonly #connection: Connection;
  readonly #request: LogRequest;
  /** Where to go on, in the server's words. */
  #lastId: string | undefined;

  constructor(connection: Connection, request: LogRequest) {
    this.#connection = connection;
    this.#request = request;
    this.writer = new LogWriter(request.tail);
  }

  /** One stream; whether it came to the job's end. */
  async once(): Promise<boolean> {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), SILENCE_MS);
    const { signal } = this.#request;
    try {
      const body = await this.#open(AbortSignal.any([silence.signal, ...(signal === undefined ? [] : [signal])]));
      const heard = (): void => {
        timer.refresh();
        this.persistence.contact();
      };
      for await (const event of readEvents(textOf(body, heard))) {
        if (event.event === 'end') return true;
        await this.#show(event);
      }
    } catch (error) {
      if (signal?.aborted || error instanceof CliError) throw error;
      throw new CliError(EXIT.unreachable, `the connection broke: ${(error as Error).message}`);
    } finally {
      clearTimeout(timer);
    }
    throw new CliError(EXIT.unreachable, 'the server closed the connection');
  }

  async #open(signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const resume = this.#lastId === undefined ? {} : { 'last-event-id': this.#lastId };
    const response = await this.#connection.open(routes.readLogs, {
      params: { id: this.#request.id },
      query: { attempt: this.#request.attempt },
      headers: { accept: 'text/event-stream', ...resume },
      signal,
    });
    return response.body;
  }

  async #show({ event, id, data }: StreamEvent): Promise<void> {
    if (event === 'output') await this.writer.write((JSON.parse(data) as OutputEvent).text);
    if (event === 'cut') note(`… ${(JSON.parse(data) as CutEvent).bytes} bytes cut …`);
    this.#lastId = id ?? this.#lastId;
  }
}

/** `heard` is called with every sign of life, events or not. */
async function* textOf(body: AsyncIterable<Uint8Array>, heard: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    heard();
    yield decoder.decode(bytes, { stream: true });
  }
}
