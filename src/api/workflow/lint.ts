/** What a schema cannot see in a workflow file: names that clash, graphs that do not close, values that reach nobody. */

import type { WorkflowDefinition } from './definition.ts';
import { lintCommands } from './lint-commands.ts';
import { lintForEach } from './lint-for-each.ts';
import { lintGraph } from './lint-graph.ts';
import { lintNames } from './lint-names.ts';
import { lintParams } from './lint-params.ts';
import type { Finding, SourcePath } from './source.ts';

/** Where each step is in the file. */
export type StepPaths = (step: number) => SourcePath;

/** Errors and warnings about a file that has the right form. */
export function lintWorkflow(definition: WorkflowDefinition, pathOf: StepPaths): Finding[] {
  return [
    ...lintParams(definition),
    ...lintNames(definition, pathOf),
    ...lintGraph(definition, pathOf),
    ...lintForEach(definition, pathOf),
    ...lintCommands(definition, pathOf),
  ];
}
