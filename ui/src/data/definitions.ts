/** Stored workflow definitions. */

import { HttpClient } from '../../../src/api/http-client.ts';
import { routes } from '../../../src/api/routes.ts';
import type { AppliedDefinition, DefinitionDetail, DefinitionPage } from '../../../src/api/workflow/stored.ts';
import type { Workflow } from '../../../src/api/workflow/workflow.ts';
import { API_URL } from './place.ts';
import { sessionTransport } from './session.ts';

const http = new HttpClient({ url: API_URL, token: null, transport: sessionTransport });

export function listDefinitions(signal: AbortSignal): Promise<DefinitionPage> {
  return http.json(routes.listDefinitions, { query: { limit: '100' }, signal });
}

export function readDefinition(name: string, signal: AbortSignal): Promise<DefinitionDetail> {
  return http.json(routes.readDefinition, { params: { name }, query: {}, signal });
}

/** Values are text: the server reads them as the types of the parameters. */
export function runDefinition(name: string, params: Readonly<Record<string, string>>): Promise<Workflow> {
  return http.json(routes.runDefinition, { params: { name }, body: { params } });
}

/** Stores a workflow file; a version is made only if something changed. */
export function applyDefinition(name: string, source: string): Promise<AppliedDefinition> {
  return http.json(routes.applyDefinition, { params: { name }, body: { source } });
}
