/** A client of the API for programs and pages, with the names of the wire. It needs nothing but `fetch`. */

import { type CallOptions, type Calls, callsTo, type EventMessage, type LogEvent, type Sender } from './calls.ts';
import { clientRoutes } from './client-routes.ts';
import { fetchTransportTo } from './fetch-transport.ts';
import { HttpClient, type Transport } from './http-client.ts';
import type { SubmittedJob } from './job.ts';
import type { JobSubmissionInput, JobsInput } from './job-submission.ts';

export type { CallOptions, EventMessage, LogEvent };

export interface ClientOptions {
  url: string;
  token?: string | null | undefined;
  /** Sends requests; `fetch` by default, which cannot use a socket (`unix:…`). */
  transport?: Transport | undefined;
}

interface Submits {
  /** One job. A gang, which is several, goes to `submitAll`. */
  submit(job: JobSubmissionInput, options?: CallOptions): Promise<SubmittedJob>;
  /** All of them or none, in order. Instead of a list, it takes one gang, and returns its members by rank. */
  submitAll(jobs: JobsInput, options?: CallOptions): Promise<SubmittedJob[]>;
}

/** Every call rejects with a `WorkronError`: the server's own code, or `unreachable`. An abort rejects with its reason. */
export type Client = Calls<typeof clientRoutes, 'wire'> & Submits;

const same = <T>(message: T): T => message;

export function clientTo(sender: Sender): Client {
  const calls = callsTo<typeof clientRoutes, 'wire'>(clientRoutes, sender, { encode: same, decode: same });
  return {
    ...calls,
    submit: (job, options) => calls.submitJobs(job, options) as Promise<SubmittedJob>,
    submitAll: async (jobs, options) => ((await calls.submitJobs(jobs, options)) as { items: SubmittedJob[] }).items,
  };
}

export const Client = function client({ url, token = null, transport = fetchTransportTo(url) }: ClientOptions): Client {
  return clientTo(new HttpClient({ url, token, transport }));
} as unknown as new (
  options: ClientOptions,
) => Client;
