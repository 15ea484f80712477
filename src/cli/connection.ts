/**
 * The connection of a command to a running Workron. Replies and problems stay the documents that the server sent, so that
 * `--json` prints them whatever the server's version. Every failure is a `CliError` with its exit code.
 */

import { type ErrorFactory, HttpClient, type HttpReply, type Params, type Refusal } from '../api/http-client.ts';
import type { ReceivedProblem } from '../api/problem.ts';
import type { ParamsOf, ReplyOf, Route } from '../api/route.ts';
import { CertificateError } from '../ops/certificate-error.ts';
import { nodeTransport } from '../ops/node-http.ts';
import { UnsafeSocketError } from '../ops/private-socket.ts';
import { CliError, EXIT, exitCodeOfStatus, usageError } from './errors/cli-error.ts';
import { fieldLines } from './errors/failure.ts';

const REQUEST_TIMEOUT_MS = 30_000;
/** A server that sends nothing for this long is gone. */
const SILENCE_MS = 300_000;

/** Query and body are sent as the user wrote them; the server validates them. */
type ApiCall<R extends Route> = Params<R> & {
  query?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
  timeoutMs?: number;
};

/** The second argument may be left out for routes without parameters. */
type Rest<R extends Route> = keyof ParamsOf<R> extends never ? [call?: ApiCall<R>] : [call: ApiCall<R>];

interface Access {
  token: string | null;
  /** The server's socket, if it is one of this user on this machine. */
  socketPath?: string | undefined;
  /** The only authorities whose certificates are trusted, in PEM. */
  ca?: string | null;
}

export class Connection {
  readonly #http: HttpClient;

  /** `nameOf` names a field of a request, given by its pointer, in errors. */
  constructor(url: string, { token, socketPath, ca = null }: Access, nameOf = (pointer: string) => pointer) {
    const socket = socketPath === undefined ? {} : { socketPath };
    const transport = nodeTransport({ silenceMs: SILENCE_MS, ca, ...socket });
    this.#http = new HttpClient({ url, token, transport, errors: cliErrors(nameOf) });
  }

  /** Returns the decoded reply. Gives up after 30 s unless the call has a signal or a timeout. */
  async json<R extends Route>(route: R, ...[call]: Rest<R>): Promise<ReplyOf<R>> {
    refuseEmpty(call as { params?: object } | undefined);
    const timeoutMs = call?.timeoutMs ?? (call?.signal === undefined ? REQUEST_TIMEOUT_MS : undefined);
    return await this.#http.json(route, { ...(call as ApiCall<Route>), timeoutMs } as never);
  }

  /** Returns a reply whose body is read as it arrives. */
  open<R extends Route>(route: R, ...[call]: Rest<R>): Promise<HttpReply> {
    return this.#http.open(route, { ...(call as ApiCall<Route>) } as never);
  }
}

/** An empty name would make the path of something else. */
function refuseEmpty(call: { params?: object } = {}): void {
  for (const [name, value] of Object.entries(call.params ?? {})) {
    if (value === '') throw usageError(`the ${name}: must not be empty`);
  }
}

function cliErrors(nameOf: (pointer: string) => string): ErrorFactory {
  return {
    refused(refusal) {
      const problem = refusal.problem ?? problemOf(refusal);
      const exitCode = exitCodeOfStatus(refusal.status);
      const hint = refusal.status === 401 ? 'give the token by WORKRON_TOKEN, --token or --token-file' : undefined;
      return new CliError(exitCode, fieldLines(problem.errors, nameOf) ?? problem.detail ?? problem.title, {
        hint,
        problem,
      });
    },
    unreachable(url, cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      if (cause instanceof CertificateError || cause instanceof UnsafeSocketError) {
        return new CliError(EXIT.unreachable, `${url}: ${message}`);
      }
      if (code === 'EPROTO' && url.startsWith('https:')) {
        return new CliError(EXIT.unreachable, `the server at ${url} does not speak https`, {
          hint: `--url ${url.replace('https:', 'http:')}`,
        });
      }
      const why = typeof code === 'string' ? code : message;
      const closed = message.startsWith('socket hang up') && url.startsWith('http:');
      return new CliError(EXIT.unreachable, `cannot connect to Workron at ${url} (${why})`, {
        hint: closed
          ? `the connection was closed without an answer; if the server speaks https: --url ${url.replace('http:', 'https:')}`
          : 'start one with `workron up` (in a clone: npm start), or set --url or WORKRON_URL',
      });
    },
  };
}

/** Describes a reply that does not come from Workron but, for example, from a proxy. */
function problemOf({ status, statusText, location }: Refusal): ReceivedProblem {
  const elsewhere = location === null ? '' : `, which leads to ${location}`;
  return { title: `HTTP ${status} ${statusText}`.trim() + elsewhere, status };
}
