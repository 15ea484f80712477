/** Workflow definitions that are stored by name, and what a schedule uses of one. */

import { WorkronError } from '../error.ts';
import type { Schedule, ScheduleSpec } from '../schedule/schedule.ts';
import type { ListedWorkflow } from './new-workflow.ts';

export interface NewDefinition {
  name: string;
  /** The file as it was applied. */
  source: string;
  /** What the file means, as JSON. Equal text means that nothing has changed. */
  body: string;
}

/** One version of a definition. Versions of a name are numbered from 1. */
export interface Definition extends NewDefinition {
  version: number;
  createdAt: number;
}

/** Which definition a workflow was made from. */
export interface DefinitionVersion {
  name: string;
  version: number;
}

/** What a schedule runs: the workflow of its target was made from this. */
export interface DefinitionUse extends DefinitionVersion {
  /** True if the schedule follows each new version. */
  latest: boolean;
  /** As they were given. */
  params: Readonly<Record<string, unknown>>;
}

/** A schedule that follows the latest version, and the workflow that it is to run from the next version on. */
export interface Follower {
  scheduleId: number;
  /** The parameters that the workflow was made with. */
  params: DefinitionUse['params'];
  workflow: Omit<ListedWorkflow, 'rerunOf' | 'definition'>;
}

/** Throws if a schedule cannot use this: there is no such version, or a newer one than the latest that was expected. */
export function checkUse({ uses }: Pick<ScheduleSpec, 'uses'>, versions: readonly number[]): void {
  if (uses === undefined || uses === null) return;
  const latest = Math.max(0, ...versions);
  if (!versions.includes(uses.version)) throw definitionNotFound(uses.name, latest === 0 ? null : uses.version);
  if (uses.latest && uses.version !== latest) throw definitionChanged(uses.name);
}

/**
 * Returns the specs of the schedules that follow a definition, with its new version; `undefined` if these are not the
 * schedules, or not with the parameters, that the new workflows were made for.
 */
export function followVersion(
  using: readonly Schedule[],
  followers: readonly Follower[],
  version: number,
): Schedule[] | undefined {
  const following = using.filter(({ uses }) => uses?.latest);
  if (following.length !== followers.length) return undefined;
  const changed: Schedule[] = [];
  for (const schedule of following) {
    const uses = schedule.uses as DefinitionUse;
    const follower = followers.find(({ scheduleId }) => scheduleId === schedule.id);
    if (follower === undefined || JSON.stringify(follower.params) !== JSON.stringify(uses.params)) return undefined;
    const workflow = { ...follower.workflow, definition: { name: uses.name, version } };
    changed.push({ ...schedule, target: { workflow }, uses: { ...uses, version } });
  }
  return changed;
}

export function definitionNotFound(name: string, version: number | null): WorkronError {
  const which = version === null ? '' : ` with version ${version}`;
  return new WorkronError('definition_not_found', `There is no workflow definition ${name}${which}`);
}

export function definitionChanged(name: string): WorkronError {
  return new WorkronError(
    'definition_changed',
    `The workflow definition ${name} was changed in the meantime; try again`,
  );
}
