/**
 * The way to a running Workron: the API's documents as they are, problems too, so that `--json` prints what the server
 * said, whatever its version. Every answer that is not a success is a `CliError` with its exit code.
 */

import { CliError, type Problem } from './errors/cli-error.ts';
import { EXIT, exitCodeOfStatus } from './errors/exit-code.ts';
import { type HttpAnswer, sendRequest, textOf } from './send-request.ts';

const REQUEST_TIMEOUT_MS = 30_000;

export interface Call {
  query?: Readonly<Record<string, string | readonly string[] | undefined>>;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

export class Connection {
  readonly #url: string;
  readonly #token: string | null;

  constructor(url: string, token: string | null) {
    this.#url = url;
    this.#token = token;
  }

  /** The decoded answer, whatever the API says it is. */
  async json<T>(method: string, path: string, call: Call = {}): Promise<T> {
    const response = await this.open(method, path, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS), ...call });
    return this.#decode<T>(response);
  }

  /** A document that is there whether the status is a success or 503. */
  async report<T>(path: string): Promise<T> {
    const response = await this.#send('GET', path, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    if (!isSuccess(response) && response.status !== 503) throw await this.#refusal(response);
    return this.#decode<T>(response);
  }

  /** The answer itself, for bodies that are read as they come. */
  async open(method: string, path: string, call: Call = {}): Promise<HttpAnswer> {
    const response = await this.#send(method, path, call);
    if (!isSuccess(response)) throw await this.#refusal(response);
    return response;
  }

  async #send(method: string, path: string, { query, body, headers, signal }: Call): Promise<HttpAnswer> {
    const request = {
      method,
      headers: { ...this.#headers(body), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    };
    try {
      return await sendRequest(this.#url + path + queryString(query), request);
    } catch (error) {
      throw this.#unreachable(error);
    }
  }

  async #decode<T>(response: HttpAnswer): Promise<T> {
    try {
      return JSON.parse(await textOf(response)) as T;
    } catch (error) {
      throw this.#unreachable(error);
    }
  }

  #headers(body: unknown): Record<string, string> {
    const headers: Record<string, string> = { accept: 'application/json' };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (this.#token !== null) headers['authorization'] = `Bearer ${this.#token}`;
    return headers;
  }

  /** `error` as it is where the caller gave up; else the sentence for a server that does not answer. */
  #unreachable(error: unknown): unknown {
    if (error instanceof Error && error.name === 'AbortError') return error;
    const { code, message } = error as NodeJS.ErrnoException;
    const why = typeof code === 'string' ? code : message;
    return new CliError(EXIT.unreachable, `no Workron answers at ${this.#url} (${why})`, {
      hint: 'start one with `workron up` (in a clone: npm start), or say where it is by --url or WORKRON_URL',
    });
  }

  async #refusal(response: HttpAnswer): Promise<CliError> {
    const problem = await readProblem(response);
    const exitCode = exitCodeOfStatus(response.status);
    const message = problem.detail ?? problem.title;
    const hint = exitCode === EXIT.refused ? 'give the token by WORKRON_TOKEN, --token or --token-file' : undefined;
    return new CliError(exitCode, message, { hint, problem });
  }
}

function isSuccess({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300;
}

async function readProblem(response: HttpAnswer): Promise<Problem> {
  const text = await textOf(response);
  try {
    const problem: unknown = JSON.parse(text);
    if (typeof problem === 'object' && problem !== null && 'title' in problem) return problem as Problem;
  } catch {
    // Not one of ours: a proxy's page, say.
  }
  const { status, statusText, location } = response;
  const elsewhere = location === undefined ? '' : `, which leads to ${location}`;
  return { title: `HTTP ${status} ${statusText}`.trim() + elsewhere, status };
}

function queryString(query: Call['query']): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (typeof value === 'string') params.append(name, value);
    else for (const each of value ?? []) params.append(name, each);
  }
  return params.size === 0 ? '' : `?${params.toString()}`;
}
