/** Stored workflow definitions. */

import { HttpClient } from '../../../src/api/http-client.ts';
import { routes } from '../../../src/api/routes.ts';
import type {
  AppliedDefinition,
  Definition,
  DefinitionDetail,
  DefinitionPage,
} from '../../../src/api/workflow/stored.ts';
import type { Workflow } from '../../../src/api/workflow/workflow.ts';
import { type All, allPages, PAGE } from './all-pages.ts';
import { API_URL } from './place.ts';
import { sessionTransport } from './session.ts';

export const LATEST = 'latest';

const http = new HttpClient({ url: API_URL, token: null, transport: sessionTransport });

export function listDefinitions(signal: AbortSignal): Promise<DefinitionPage> {
  return http.json(routes.listDefinitions, { query: { limit: '100' }, signal });
}

/** The definitions by name, for a choice. */
export function allDefinitions(signal: AbortSignal): Promise<All<Definition>> {
  return allPages((from) => http.json(routes.listDefinitions, { query: { limit: String(PAGE), ...from }, signal }));
}

/** `version`: a number, or the latest. */
export function readDefinition(name: string, signal: AbortSignal, version = LATEST): Promise<DefinitionDetail> {
  return http.json(routes.readDefinition, { params: { name }, query: version === LATEST ? {} : { version }, signal });
}

/** Values are text: the server reads them as the types of the parameters. */
export function runDefinition(name: string, params: Readonly<Record<string, string>>): Promise<Workflow> {
  return http.json(routes.runDefinition, { params: { name }, body: { params } });
}

/** Stores a workflow file; a version is made only if something changed. */
export function applyDefinition(name: string, source: string): Promise<AppliedDefinition> {
  return http.json(routes.applyDefinition, { params: { name }, body: { source } });
}
