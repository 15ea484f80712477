/** The operations on stored workflow definitions. */

import {
  type Definition,
  type DefinitionUse,
  definitionChanged,
  definitionNotFound,
  type Follower,
  type NewDefinition,
} from '../../core/dag/definition.ts';
import { isWorkronError, WorkronError } from '../../core/error.ts';
import type { SchedulerContext } from '../context.ts';
import { sealWorkflow } from '../secrets/sealing.ts';

/** How often an operation is tried while others change the same definition or its schedules. */
const MAX_ROUNDS = 20;

interface DefinitionPage {
  /** The latest versions, sorted by name. */
  items: Definition[];
  /** Pass as `after` to read the next page; `null` on the last page. */
  nextAfter: string | null;
}

interface ApplyOptions {
  dryRun: boolean;
  sealsInputs: boolean;
}

export interface Definitions {
  /**
   * Stores the next version of a definition unless the latest is the same. Schedules that follow it run the new version from
   * now on; `workflowOf` makes what each of them runs. Throws, and changes nothing, if it throws for one of them. `sealsInputs`: a
   * step has an input that is to be sealed.
   */
  applyDefinition(
    definition: NewDefinition,
    workflowOf: (uses: DefinitionUse) => Follower['workflow'],
    options: ApplyOptions,
    signal: AbortSignal,
  ): Promise<{ definition: Definition; changed: boolean }>;
  /** Throws `definition_not_found`. `null`: the latest version. */
  definition(name: string, version: number | null, signal: AbortSignal): Promise<Definition>;
  definitions(page: { after: string | null; limit: number }, signal: AbortSignal): Promise<DefinitionPage>;
  /** Newest first, at most `limit`. */
  definitionVersions(
    name: string,
    limit: number,
    signal: AbortSignal,
  ): Promise<Pick<Definition, 'version' | 'createdAt'>[]>;
  /** The names of the schedules that use it. */
  usersOfDefinition(name: string, signal: AbortSignal): Promise<string[]>;
  /** Throws `definition_not_found`, and `definition_in_use` if schedules use it. Runs of it stay. */
  deleteDefinition(name: string, signal: AbortSignal): Promise<void>;
}

export function definitionsOf(context: SchedulerContext): Definitions {
  const { store } = context;
  return {
    applyDefinition: (definition, workflowOf, options, signal) =>
      apply(context, { definition, workflowOf, ...options }, signal),
    async definition(name, version, signal) {
      const found = await store.definition(name, version, signal);
      if (found === undefined) throw definitionNotFound(name, version);
      return await open(context, found, signal);
    },
    async definitions({ after, limit }, signal) {
      const found = await store.definitions({ after, limit: limit + 1 }, signal);
      const items = await Promise.all(found.slice(0, limit).map((definition) => open(context, definition, signal)));
      return { items, nextAfter: found.length > limit ? (items.at(-1)?.name ?? null) : null };
    },
    definitionVersions: (name, limit, signal) => store.definitionVersions(name, { before: null, limit }, signal),
    usersOfDefinition: async (name, signal) =>
      (await store.schedulesUsing(name, signal)).map((schedule) => schedule.name),
    async deleteDefinition(name, signal) {
      const { deleted, usedBy } = await store.deleteDefinition(name, signal);
      if (deleted) return;
      if (usedBy.length === 0) throw definitionNotFound(name, null);
      throw new WorkronError(
        'definition_in_use',
        `Schedules use the workflow definition ${name}: ${usedBy.slice(0, 10).join(', ')}; delete or change them first`,
      );
    },
  };
}

interface Application extends ApplyOptions {
  definition: NewDefinition;
  workflowOf: (uses: DefinitionUse) => Follower['workflow'];
}

/** Throws `no_secrets_key` if no key of this process opens it. */
async function open({ sealing }: SchedulerContext, definition: Definition, signal: AbortSignal): Promise<Definition> {
  const opened = await sealing.openDefinition(definition, signal);
  if (opened !== undefined) return opened;
  throw new WorkronError(
    'no_secrets_key',
    `The workflow definition ${definition.name} is encrypted, and no key of this server opens it: start it with the key, or apply the file again`,
  );
}

async function apply(
  context: SchedulerContext,
  { definition, workflowOf, dryRun, sealsInputs }: Application,
  signal: AbortSignal,
): Promise<{ definition: Definition; changed: boolean }> {
  const { store, sealing } = context;
  const { name } = definition;
  const sealed = await sealing.sealDefinition(definition, { sealsInputs });
  const seal = await sealing.seal();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const latest = await store.definition(name, null, signal);
    const known = latest && (await sealing.openDefinition(latest, signal));
    if (known?.body === definition.body) return { definition: known, changed: false };
    const followers = (await store.schedulesUsing(name, signal)).flatMap(({ id, name: schedule, uses }): Follower[] =>
      uses?.latest
        ? [
            {
              scheduleId: id,
              params: uses.params,
              workflow: workflowFor(schedule, () => sealWorkflow(workflowOf(uses), seal)),
            },
          ]
        : [],
    );
    const next = { ...definition, version: (latest?.version ?? 0) + 1, createdAt: await store.now(signal) };
    if (dryRun) return { definition: next, changed: true };
    const answer = await store.putDefinition(sealed, followers, signal);
    if (answer !== undefined) return { ...answer, definition: await open(context, answer.definition, signal) };
  }
  throw definitionChanged(name);
}

/** Names the schedule that an error is about. */
function workflowFor(schedule: string, make: () => Follower['workflow']): Follower['workflow'] {
  try {
    return make();
  } catch (error) {
    if (!isWorkronError(error, 'bad_request')) throw error;
    throw new WorkronError(
      'bad_request',
      `The schedule ${schedule} follows it with other parameters: ${error.message}`,
    );
  }
}
