/** Prints the output of a job: what exists now, or everything until the job has ended. */

import { once } from 'node:events';
import { fstatSync } from 'node:fs';
import type { CutEvent, OutputEvent } from '../../api/event.ts';
import { readEvents, type StreamEvent } from '../../api/event-stream.ts';
import { LineTimes } from '../../api/line-times.ts';
import { routes } from '../../api/routes.ts';
import { isTerminal } from '../../core/job.ts';
import type { Connection } from '../connection.ts';
import { CliError, EXIT } from '../errors/cli-error.ts';
import { note } from '../errors/report.ts';
import type { StatusLine } from '../output/status-line.ts';
import { PrefixedLines, TerminalText } from '../output/terminal-text.ts';
import { Persistence } from './wait.ts';

/** The server sends something every five seconds. After this time without any byte, the connection is dead. */
const SILENCE_MS = 20_000;
/** After this time without new bytes, the existing output has arrived. */
const QUIET_MS = 250;
const NEWLINE = 0x0a;

interface LogRequest {
  id: string;
  /** `undefined`: the current or last attempt, and when followed also later ones. */
  attempt?: number | undefined;
  /** The number of last lines to print of the existing output. */
  tail?: number | undefined;
  /** True to write the bytes as they are, also to a terminal. */
  raw?: boolean | undefined;
  /** True to clean them also for a pipe whose end may be a terminal. */
  cautious?: boolean;
  /** True to begin each line with the time at which the server received it. */
  timestamps?: boolean | undefined;
  signal?: AbortSignal;
  /** Put before each line, where several logs are printed together. */
  prefix?: string;
  /** A line on the same terminal. */
  line?: StatusLine;
}

/** Prints the existing output: byte for byte, but for a terminal without what it would obey. */
export async function printLog(connection: Connection, request: LogRequest): Promise<void> {
  const response = await connection.open(routes.readLogs, {
    params: { id: request.id },
    query: { attempt: request.attempt, ...(request.timestamps ? { timestamps: 'true' as const } : {}) },
    headers: { accept: 'text/plain' },
  });
  const writer = new LogWriter(request);
  for await (const bytes of response.body) await writer.write(bytes);
  await writer.end();
  if (!writer.hasWritten && process.stdout.isTTY) await tellNothing(connection, request);
}

/** An empty screen would leave open whether there is nothing, or something went wrong. */
async function tellNothing(connection: Connection, { id, attempt }: LogRequest): Promise<void> {
  const { status } = await connection.json(routes.readJob, { params: { id } });
  if (attempt !== undefined) note(`attempt ${attempt} of job ${id} printed nothing`);
  else note(isTerminal(status) ? `job ${id} printed nothing` : `job ${id} is ${status} and has printed nothing yet`);
}

/** Prints output until the job has ended. Resumes where it stopped after the server was unreachable. */
export async function followLog(connection: Connection, request: LogRequest): Promise<void> {
  const following = new Following(connection, request);
  while (!(await following.persistence.call(() => following.once(), request.signal)));
  await following.writer.end();
}

class Following {
  readonly persistence = new Persistence();
  readonly writer: LogWriter;
  readonly #connection: Connection;
  readonly #request: LogRequest;
  /** `null` if lines have no time. */
  readonly #times: LineTimes | null;
  /** The id of the last event, from which a new stream resumes. */
  #lastId: string | undefined;

  constructor(connection: Connection, request: LogRequest) {
    this.#connection = connection;
    this.#request = request;
    this.writer = new LogWriter(request);
    this.#times = request.timestamps ? new LineTimes() : null;
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
    if (event === 'output') await this.writer.write(bytesOf(JSON.parse(data) as OutputEvent, this.#times));
    if (event === 'cut') note(`… ${(JSON.parse(data) as CutEvent).bytes} bytes cut …`);
    this.#lastId = id ?? this.#lastId;
  }
}

function bytesOf({ text, base64, received_at }: OutputEvent, times: LineTimes | null): string | Uint8Array {
  const bytes = base64 === undefined ? text : Buffer.from(base64, 'base64');
  return times === null ? bytes : times.push(Buffer.from(bytes as Uint8Array), received_at);
}

/** Calls `onBytes` for every chunk, including keep-alives. */
async function* textOf(body: AsyncIterable<Uint8Array>, onBytes: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    onBytes();
    yield decoder.decode(bytes, { stream: true });
  }
}

/** Writes output to stdout. With `tail`, existing output is cut to its last lines. */
class LogWriter {
  /** The number of lines to keep of the existing output; `null` once they are written. */
  #tail: number | null;
  #held: Buffer = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;
  readonly #line: StatusLine | undefined;
  /** `null` if lines have no prefix. */
  readonly #lines: PrefixedLines | null;
  /** `null` if bytes are written as they are. */
  readonly #text: TerminalText | null;

  constructor({ tail, raw = false, cautious = false, line, prefix }: LogRequest) {
    this.#tail = tail ?? null;
    this.#lines = prefix === undefined ? null : new PrefixedLines(prefix);
    this.#line = line;
    const clean = process.stdout.isTTY || (cautious && mayReachTerminal());
    this.#text = clean && !raw ? new TerminalText() : null;
  }

  hasWritten = false;

  async write(data: string | Uint8Array): Promise<void> {
    this.hasWritten ||= data.length > 0;
    if (this.#tail === null) return this.#print(data);
    clearTimeout(this.#timer);
    this.#held = lastLines(Buffer.concat([this.#held, Buffer.from(data as Uint8Array)]), this.#tail);
    this.#timer = setTimeout(() => void this.flush(), QUIET_MS);
  }

  /** Writes the kept lines. Later output is written at once. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#tail = null;
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    if (held.length > 0) await this.#print(held);
  }

  /** Writes all that was kept or held back. */
  async end(): Promise<void> {
    await this.flush();
    const rest = this.#text?.end() ?? '';
    if (this.#lines !== null) await write(this.#lines.push(rest) + this.#lines.end());
    else if (rest !== '') await write(rest);
    if (this.#text?.hasChanged && !process.stdout.isTTY) note('control characters were made visible; --raw keeps them');
  }

  async #print(data: string | Uint8Array): Promise<void> {
    this.#line?.makeRoom(data.at(-1) === '\n' || data.at(-1) === NEWLINE);
    const shown = this.#text === null ? data : this.#text.push(data);
    await write(this.#lines === null ? shown : this.#lines.push(shown));
  }
}

/** Returns the last `count` lines. A newline at the very end does not begin another line. */
function lastLines(bytes: Buffer, count: number): Buffer {
  if (count === 0) return Buffer.alloc(0);
  let at = bytes.at(-1) === NEWLINE ? bytes.length - 2 : bytes.length - 1;
  for (let found = 0; at >= 0; at -= 1) {
    at = bytes.lastIndexOf(NEWLINE, at);
    if (at < 0) break;
    found += 1;
    if (found === count) return bytes.subarray(at + 1);
  }
  return bytes;
}

/** True for a pipe of somebody who sits at a terminal, such as `| grep error`. A file, and programs without a terminal, get bytes. */
function mayReachTerminal(): boolean {
  return process.stderr.isTTY && !fstatSync(process.stdout.fd).isFile();
}

async function write(data: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(data)) await once(process.stdout, 'drain');
}
