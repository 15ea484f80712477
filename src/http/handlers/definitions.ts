/** Stored workflow definitions: apply, list, read, run, delete. */

import { toInstant } from '../../api/fields.ts';
import { pathOf } from '../../api/route.ts';
import { routes } from '../../api/routes.ts';
import type { ScheduleSubmission } from '../../api/schedule.ts';
import { nothing } from '../../api/schemas.ts';
import {
  AppliedDefinition,
  Definition,
  DefinitionApply,
  DefinitionDetail,
  DefinitionListQuery,
  DefinitionPage,
  DefinitionQuery,
  DefinitionRun,
  DefinitionSource,
} from '../../api/workflow/stored.ts';
import {
  definitionToWire,
  newDefinitionFrom,
  outlineOf,
  recentToWire,
  scheduledWorkflow,
  workflowFrom,
} from '../../api/workflow/stored-wire.ts';
import { Workflow } from '../../api/workflow/workflow.ts';
import { workflowToWire } from '../../api/workflow/workflow-wire.ts';
import { isWorkronError } from '../../core/error.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import { authorizeDefinition, authorizeFound, authorizeSteps } from '../authorize.ts';
import { afterFrom, DEFAULT_PAGE_SIZE, toNameCursor } from '../cursor.ts';
import { handler } from '../handler.ts';
import { idempotencyOf, replayHeader } from '../idempotency.ts';
import { definitionNameIn } from '../path-id.ts';

/** JSON escapes may double the source. */
const MAX_APPLY_BYTES = 16 * 1024 * 1024;
const RECENT_RUNS = 50;
const SHOWN_VERSIONS = 100;
/** How often a schedule is made again because its definition has changed in the meantime. */
const MAX_ROUNDS = 10;

export const definitionHandlers = {
  applyDefinition: handler(routes.applyDefinition, {
    summary: 'Store a workflow by name; a new version is made only if something has changed',
    body: DefinitionApply,
    bodyLimit: MAX_APPLY_BYTES,
    replies: { 200: AppliedDefinition },
    async handle(call) {
      const { scheduler, principal, params, body, signal } = call;
      const wanted = newDefinitionFrom(definitionNameIn(params), body.source);
      const { steps, notify = [] } = outlineOf(wanted);
      authorizeSteps(principal, steps, notify);
      await authorizeDefinition(call, wanted.name);
      const dryRun = body.dry_run ?? false;
      const workflowOf = (uses: { params: Readonly<Record<string, unknown>> }) => workflowFrom(wanted, uses.params);
      const sealsInputs = steps.some(({ job }) => job.sealInput);
      const how = { dryRun, sealsInputs };
      const { definition, changed } = await scheduler.applyDefinition(wanted, workflowOf, how, signal);
      return { status: 200, json: { ...definitionToWire(definition), changed, dry_run: dryRun } };
    },
  }),

  listDefinitions: handler(routes.listDefinitions, {
    summary: 'List stored workflow definitions in their latest versions, by name',
    query: DefinitionListQuery,
    replies: { 200: DefinitionPage },
    async handle({ scheduler, query: { limit = DEFAULT_PAGE_SIZE, cursor }, signal }) {
      const { items, nextAfter } = await scheduler.definitions({ after: afterFrom(cursor), limit }, signal);
      return { status: 200, json: { items: items.map(definitionToWire), next_cursor: toNameCursor(nextAfter) } };
    },
  }),

  readDefinition: handler(routes.readDefinition, {
    summary:
      'Read a version of a definition, with all versions, the schedules that use it and how its latest runs went',
    query: DefinitionQuery,
    replies: { 200: DefinitionDetail },
    async handle({ scheduler, params, query, signal }) {
      const name = definitionNameIn(params);
      const definition = await scheduler.definition(name, query.version ?? null, signal);
      const [versions, schedules, runs] = await Promise.all([
        scheduler.definitionVersions(name, SHOWN_VERSIONS, signal),
        scheduler.usersOfDefinition(name, signal),
        scheduler.workflows({ definition: name }, { before: null, limit: RECENT_RUNS }, signal),
      ]);
      const json = {
        ...definitionToWire(definition),
        versions: versions.map(({ version, createdAt }) => ({ version, created_at: toInstant(createdAt) })),
        schedules,
        recent: recentToWire(runs.items),
      };
      return { status: 200, json };
    },
  }),

  readDefinitionSource: handler(routes.readDefinitionSource, {
    summary: 'Read the file of a definition, which may contain values of environment variables and sealed inputs',
    query: DefinitionQuery,
    replies: { 200: DefinitionSource },
    async handle({ scheduler, principal, params, query, signal }) {
      const found = await scheduler.definition(definitionNameIn(params), query.version ?? null, signal);
      authorizeFound(principal, found);
      return { status: 200, json: { name: found.name, version: found.version, source: found.source } };
    },
  }),

  runDefinition: handler(routes.runDefinition, {
    summary: 'Run a stored workflow with parameters; the run keeps the version that it started with',
    body: DefinitionRun.optional(),
    replies: { 201: Workflow },
    async handle(call) {
      const { scheduler, principal, params, body, signal } = call;
      const { name, version, ...rest } = await scheduler.definition(
        definitionNameIn(params),
        body?.version ?? null,
        signal,
      );
      const workflow = workflowFrom({ name, ...rest }, body?.params ?? {});
      authorizeSteps(principal, workflow.steps, workflow.notify ?? []);
      const submittedBy = principal.submitter;
      const submission = { ...workflow, rerunOf: null, definition: { name, version }, submittedBy };
      const made = await scheduler.submitWorkflow(submission, idempotencyOf(call), signal);
      const headers = { location: pathOf(routes.readWorkflow, made.workflow), ...replayHeader(made.replayed) };
      return { status: 201, json: workflowToWire(made.workflow), headers };
    },
  }),

  deleteDefinition: handler(routes.deleteDefinition, {
    summary: 'Delete all versions of a definition that no schedule uses, and return the latest; its runs stay',
    body: nothing.optional(),
    replies: { 200: Definition },
    async handle({ scheduler, params, signal }) {
      const name = definitionNameIn(params);
      const definition = await scheduler.definition(name, null, signal);
      await scheduler.deleteDefinition(name, signal);
      return { status: 200, json: definitionToWire(definition) };
    },
  }),
};

type Made = ReturnType<typeof scheduledWorkflow>;

/** What a schedule runs that uses a definition; `undefined` for one that does not. */
export async function madeFromDefinition(
  scheduler: Scheduler,
  { definition: wanted }: Pick<ScheduleSubmission, 'definition'>,
  signal: AbortSignal,
): Promise<Made | undefined> {
  if (wanted === undefined) return undefined;
  const { name, version = 'latest', params = {} } = wanted;
  const definition = await scheduler.definition(name, version === 'latest' ? null : version, signal);
  return scheduledWorkflow(definition, { latest: version === 'latest', params });
}

/** Repeats a change of schedules while the definition that it was made from is changed by others. */
export async function withLatestDefinition<T>(change: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await change();
    } catch (error) {
      if (!isWorkronError(error, 'definition_changed') || round === MAX_ROUNDS) throw error;
    }
  }
}
