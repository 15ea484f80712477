/** The type of an entry in the table of routes, for the server and for clients. */

import type { Scope } from '../core/token.ts';

/** For the dashboard, which may import src/api only. */
export { NOTIFY_QUEUE } from '../core/notify.ts';
export { ROLE_SCOPES, type Scope } from '../core/token.ts';

interface RouteTypes {
  query?: object;
  /** The JSON body; an optional property where the body may be left out. */
  body?: unknown;
  /** The JSON reply, whatever its status. */
  reply?: unknown;
}

export interface Route<Path extends string = string, Types extends RouteTypes = RouteTypes> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `:name` for each parameter. */
  readonly path: Path;
  /** `null`: open to everyone who can reach the server. */
  readonly scope: Scope | null;
  /** A worker may call it, too, for a job that it holds. */
  readonly forHolder?: true;
  /** The reply is not JSON. */
  readonly raw?: true;
  /** A report that has the status 503 if something is wrong. */
  readonly report?: true;
  /** Never set at run time: it carries the types of request and reply. */
  readonly types?: Types;
}

type TypesOf<R extends Route> = R extends Route<string, infer Types> ? Types : never;
type TypeOf<R extends Route, Part extends keyof RouteTypes> = Part extends keyof TypesOf<R> ? TypesOf<R>[Part] : never;

export type QueryOf<R extends Route> = TypeOf<R, 'query'>;
export type BodyOf<R extends Route> = TypeOf<R, 'body'>;
export type ReplyOf<R extends Route> = TypeOf<R, 'reply'>;

type NamesIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** The parameters in the path of a route, by name. */
export type ParamsOf<R extends Route> = { readonly [Name in NamesIn<R['path']>]: string | number };

/** The path of a route with its parameters filled in. */
export function pathOf<R extends Route>(route: R, params: ParamsOf<R>): string {
  const values: Readonly<Record<string, string | number>> = params;
  return route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(values[name])));
}

/** Starts an entry from its method and path, such as `GET /jobs/:id`; `of` adds the types of its request and reply. */
export function route<Path extends string>(
  line: `${Route['method']} ${Path}`,
  scope: Scope | null,
  more: Pick<Route, 'forHolder' | 'raw' | 'report'> = {},
) {
  const [method, path] = line.split(' ') as [Route['method'], Path];
  return { of: <Types extends RouteTypes>(): Route<Path, Types> => ({ method, path, scope, ...more }) };
}
