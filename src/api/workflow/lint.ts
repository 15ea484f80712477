/** Checks of a workflow file beyond its schema: name clashes, broken graphs, unused values. */

import type { WorkflowDefinition } from './definition.ts';
import { lintCommands } from './lint-commands.ts';
import { lintForEach } from './lint-for-each.ts';
import { lintGraph } from './lint-graph.ts';
import { lintNames } from './lint-names.ts';
import { lintParams } from './lint-params.ts';
import type { Finding, SourcePath } from './source.ts';

/** Returns the place of a step in the file. */
export type StepPaths = (step: number) => SourcePath;

/** Returns errors and warnings about a file that fits the schema. */
export function lintWorkflow(definition: WorkflowDefinition, pathOf: StepPaths): Finding[] {
  return [
    ...lintParams(definition),
    ...lintNames(definition, pathOf),
    ...lintGraph(definition, pathOf),
    ...lintForEach(definition, pathOf),
    ...lintCommands(definition, pathOf),
  ];
}
