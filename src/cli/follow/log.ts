/** Prints the output of a job: what exists now, or everything until the job has ended. */

import type { CutEvent, OutputEvent } from '../../api/event.ts';
import { readEvents, type StreamEvent } from '../../api/event-stream.ts';
import { routes } from '../../api/routes.ts';
import type { Connection } from '../connection.ts';
import { CliError } from '../errors/cli-error.ts';
import { EXIT } from '../errors/exit-code.ts';
import { note } from '../errors/report.ts';
import { LogWriter } from './log-writer.ts';
import { Persistence } from './persist.ts';

/** The server sends something every five seconds. After this time without any byte, the connection is dead. */
const SILENCE_MS = 20_000;

export interface LogRequest {
  id: string;
  /** `undefined`: the current or last attempt, and when followed also later ones. */
  attempt?: number | undefined;
  /** The number of last lines to print of the existing output. */
  tail?: number | undefined;
  signal?: AbortSignal;
}

/** Prints the existing output, byte for byte. */
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

/** Prints output until the job has ended. Resumes where it stopped after the server was unreachable. */
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
  /** The id of the last event, from which a new stream resumes. */
  #lastId: string | undefined;

  constructor(connection: Connection, request: LogRequest) {
    this.#connection = connection;
    this.#request = request;
    this.writer = new LogWriter(request.tail);
  }

  /** Reads one stream. Returns true if the job has ended. */
  async once(): Promise<boolean> {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), SILENCE_MS);
    const { signal } = this.#request;
    try {
      const body = await this.#open(AbortSignal.any([silence.signal, ...(signal === undefined ? [] : [signal])]));
      const onBytes = (): void => {
        timer.refresh();
        this.persistence.contact();
      };
      for await (const event of readEvents(textOf(body, onBytes))) {
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

/** Calls `onBytes` for every chunk, including keep-alives. */
async function* textOf(body: AsyncIterable<Uint8Array>, onBytes: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    onBytes();
    yield decoder.decode(bytes, { stream: true });
  }
}
