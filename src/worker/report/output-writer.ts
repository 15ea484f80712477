/** Sends the output of attempts to the source: many attempts in one call, the chunks of each in order. */

import type { Clock, Random } from '../../core/clock.ts';
import { NEVER } from '../../core/never.ts';
import type { LogChunk } from '../../core/output.ts';
import type { Log } from '../../ops/log.ts';
import type { JobSource } from '../job-source.ts';
import type { Lease } from '../lease/lease.ts';
import { isRefusal } from '../refusal.ts';
import type { Assignment } from '../run/assignment.ts';
import { RetryBackoff } from '../time/retry-backoff.ts';
import { within } from '../time/within.ts';
import { OutputStream } from './output-stream.ts';

/** Leaves time to send within the promised quarter of a second. */
const FLUSH_MS = 200;
const STREAMS_PER_CALL = 16;
const ANSWER_MS = 15_000;

export interface OutputWriterOptions {
  source: JobSource;
  lease: Lease;
  clock: Clock;
  random: Random;
  monotonicMs: () => number;
  log: Log;
}

export class OutputWriter {
  readonly #options: OutputWriterOptions;
  readonly #backoff: RetryBackoff;
  #due: OutputStream[] = [];
  #sending = false;

  constructor(options: OutputWriterOptions) {
    this.#options = options;
    this.#backoff = new RetryBackoff(options.random);
  }

  /** `onTaken`: this many bytes were written or given up, and the stream can take more. */
  open(assignment: Assignment, onTaken: (bytes: number) => void): OutputStream {
    return new OutputStream(assignment, FLUSH_MS, { onDue: (stream) => this.#add(stream), onTaken });
  }

  #add(stream: OutputStream): void {
    if (stream.queued) return;
    stream.queued = true;
    this.#due.push(stream);
    if (this.#sending) return;
    this.#sending = true;
    void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    while (this.#due.length > 0) {
      const streams = this.#due.splice(0, STREAMS_PER_CALL);
      for (const stream of streams) stream.queued = false;
      await this.#send(streams.filter((stream) => stream.take() !== undefined));
    }
    this.#sending = false;
  }

  async #send(streams: readonly OutputStream[]): Promise<void> {
    if (streams.length === 0) return;
    const chunks = streams.map((stream) => stream.inFlight as LogChunk);
    try {
      const { source } = this.#options;
      const held = await within(ANSWER_MS, NEVER, (signal) => source.writeOutput(chunks, signal));
      this.#backoff.succeeded();
      streams.forEach((stream, index) => (held[index] ? stream.written() : refused(stream)));
    } catch (error) {
      if (isRefusal(error)) await this.#isolate(streams, error);
      else await this.#sendLater(streams, error);
    }
  }

  /** Sends each stream alone after a refusal, so that one bad chunk does not fail the others. */
  async #isolate(streams: readonly OutputStream[], error: unknown): Promise<void> {
    const [first] = streams;
    if (streams.length > 1) {
      for (const stream of streams) await this.#send([stream]);
    } else if (first !== undefined) {
      this.#options.log.error({ job_id: first.assignment.jobId, error }, 'output was refused');
      first.giveUp();
    }
  }

  async #sendLater(streams: readonly OutputStream[], error: unknown): Promise<void> {
    const { clock, log, lease, monotonicMs } = this.#options;
    const waitMs = this.#backoff.failed();
    if (this.#backoff.isNew) log.warn({ error }, 'could not write output; retrying');
    await clock.sleep(waitMs, NEVER);
    const now = monotonicMs();
    for (const stream of streams) {
      stream.failingSince ??= now;
      if (stream.assignment.lost || now - stream.failingSince > lease.lengthMs) {
        log.warn({ job_id: stream.assignment.jobId }, 'output was dropped: its lease has expired');
        stream.giveUp();
      } else if (!stream.queued) {
        stream.queued = true;
        this.#due.push(stream);
      }
    }
  }
}

function refused(stream: OutputStream): void {
  stream.assignment.stop('lost');
  stream.giveUp();
}
