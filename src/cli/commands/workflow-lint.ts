import { Command } from 'commander';
import { countText } from '../../api/count-text.ts';
import type { WorkflowDefinition } from '../../api/workflow/definition.ts';
import type { SourceProblem } from '../../api/workflow/source.ts';
import { print, printData } from '../client-command.ts';
import { EXIT } from '../errors/exit-code.ts';
import { nameOfInput } from '../input/file.ts';
import { problemsText, readWorkflow } from '../input/workflow.ts';

/** `workron workflow lint FILE…`: prints all problems with line and column. Exit code 2 for errors, 0 for warnings. */
export function workflowLintCommand(): Command {
  const command = new Command('lint')
    .description('Check workflow files, without a running Workron')
    .argument('<file...>', 'YAML or JSON; - is standard input')
    .option('--json', 'Print problems as JSON');
  return command.action(async (paths: string[], { json }: { json?: boolean }) => {
    const files = [];
    for (const path of paths) files.push({ file: nameOfInput(path), ...(await readWorkflow(path)) });
    if (files.some(({ definition }) => definition === null)) process.exitCode = EXIT.usage;
    if (json) {
      printData(
        files.map(({ file, definition, problems, more }) => ({
          file,
          ok: definition !== null,
          problems: problems.map(problemJson),
          more,
        })),
        'json',
      );
      return;
    }
    for (const { file, definition, ...found } of files) {
      print(problemsText(file, found));
      if (definition !== null) print(`${file}: ok, ${summary(definition)}`);
    }
  });
}

function summary({ steps, params }: WorkflowDefinition): string {
  return [
    countText(steps.length, 'step'),
    ...(params.length === 0 ? [] : [countText(params.length, 'parameter')]),
  ].join(', ');
}

function problemJson({ severity, line, column, message }: SourceProblem): Omit<SourceProblem, 'length' | 'sourceLine'> {
  return { severity, line, column, message };
}
