/** A backend on a Workron server behind HTTP. */

import type { CallOptions } from '../api/calls.ts';
import { toCamel } from '../api/case.ts';
import { type Client, clientTo } from '../api/client.ts';
import { fetchTransport } from '../api/fetch-transport.ts';
import { HttpClient, type Transport } from '../api/http-client.ts';
import type { SubmittedJob } from '../api/job.ts';
import type { JobSubmissionInput } from '../api/job-submission.ts';
import { isWorkronError, WorkronError } from '../core/error.ts';
import { NEVER } from '../core/never.ts';
import { socketIn } from '../core/socket-address.ts';
import { version } from '../node/version.ts';
import { Batcher } from '../ops/batcher.ts';
import { explainCertificate } from '../ops/certificate-error.ts';
import type { Log } from '../ops/log.ts';
import { nodeTransport } from '../ops/node-http.ts';
import { hintAtHttps } from '../ops/scheme-hint.ts';
import { httpSource } from '../worker/http-source.ts';
import type { Backend } from './backend.ts';
import { apiCalls, type Engine } from './engine.ts';

/** The number of jobs of the largest size that fit into one request. */
const MAX_BATCH = 60;
/** The client encodes or decodes one request while the server handles the other. */
const REQUESTS_AT_ONCE = 2;
const NO_ACTOR = 'actor: over HTTP the token says who submits';
const NO_MOUNT = 'mount() needs a local store; the remote server already serves the API';

interface HttpBackendOptions {
  url: string;
  token: string | null;
  /** The only authorities whose certificates are trusted, in PEM; `null`: the public ones. */
  ca: string | null;
  log: Log;
}

/** Sends nothing to the server until something is submitted or started. */
export function openHttpBackend({ url, token, ca, log }: HttpBackendOptions): Backend {
  return {
    engine: httpEngine(httpClient({ url, token, ca })),
    source: () => httpSource({ urls: [url], token, ca, log, version }),
    runDuties: () => Promise.resolve(),
    stuck: () => [],
    mount: () => Promise.reject(new WorkronError('bad_request', NO_MOUNT)),
    drain: () => undefined,
    close: () => Promise.resolve(),
  };
}

/** Uses `fetch`, unless it needs authorities of its own or a socket, which `fetch` cannot be given. */
export function httpClient({ url, token, ca }: Omit<HttpBackendOptions, 'log'>): HttpClient {
  const isPlain = ca === null && socketIn(url) === undefined;
  return new HttpClient({ url, token, transport: isPlain ? explainedFetch : nodeTransport({ ca }) });
}

async function explainedFetch(...request: Parameters<Transport>): ReturnType<Transport> {
  try {
    return await fetchTransport(...request);
  } catch (error) {
    throw explainCertificate(error instanceof Error ? hintAtHttps(error, request[0]) : error);
  }
}

/** Calls to a server. */
export function httpEngine(http: HttpClient): Engine {
  const client = clientTo(http);
  const singles = httpSubmits(client);
  /** A submission that can be aborted gets a request of its own. */
  function submitOne(job: JobSubmissionInput, options: CallOptions): Promise<SubmittedJob> {
    const sharing = Object.keys(options).length === 0 && mayShare(job);
    return sharing ? singles.add(job, NEVER) : client.submit(job, options);
  }
  return {
    async submit(requests, { idempotency, actor }, signal) {
      if (actor !== undefined) throw new WorkronError('bad_request', NO_ACTOR);
      const jobs = requests.map(
        ({ template, input }): JobSubmissionInput => (input === undefined ? template : { ...template, input }),
      );
      const options = {
        ...(signal === undefined ? {} : { signal }),
        ...(idempotency === undefined ? {} : { idempotencyKey: idempotency.key }),
      };
      const [first, ...others] = jobs;
      if (first === undefined) return [];
      const submitted =
        others.length > 0
          ? await client.submitAll(jobs, options)
          : first.gang === undefined
            ? [await submitOne(first, options)]
            : await client.submitAll({ ...first, gang: first.gang }, options);
      return submitted.map(({ id, deduplicated }) => ({ id, deduplicated }));
    },
    enlist: () => Promise.reject(notHere()),
    complete: () => Promise.reject(notHere()),
    async wait(id, timeoutMs, signal) {
      try {
        return toCamel(await client.waitJob(id, { timeout: Math.min(timeoutMs, 30_000), signal }));
      } catch (error) {
        // The server restarts, perhaps; this Workron was not stopped.
        if (!isWorkronError(error, 'shutting_down')) throw error;
        throw new WorkronError('unreachable', error.message, { cause: error });
      }
    },
    api: apiCalls({ json: http.json.bind(http), open: http.open.bind(http), unreachable: http.unreachable.bind(http) }),
  };
}

function notHere(): WorkronError {
  return new WorkronError('bad_request', 'tx: a transaction cannot be shared over HTTP; open the database itself');
}

/** Single submissions, batched naturally: those that arrive while a request is in flight share the next one. */
function httpSubmits(client: Client): Batcher<JobSubmissionInput, SubmittedJob> {
  return new Batcher({
    send: async (jobs) => {
      const [only, ...others] = jobs;
      return only !== undefined && others.length === 0 ? [await client.submit(only)] : await client.submitAll(jobs);
    },
    maxBatch: MAX_BATCH,
    maxWaiting: 20_000,
    concurrency: REQUESTS_AT_ONCE,
    // A refused job must not fail its neighbours, so they are sent again one by one. A refused caller is refused for all.
    splits: (error) =>
      isWorkronError(error) && !error.retryable && error.httpStatus !== 401 && error.httpStatus !== 403,
  });
}

/** Jobs that may have to wait for another job, by a unique key or a parent, get requests of their own. */
function mayShare({ unique, depends_on: parents }: JobSubmissionInput): boolean {
  return unique === undefined && parents === undefined;
}
