/** Follows a workflow to its end and sets the exit code by its status. */

import { routes } from '../../api/routes.ts';
import type { WorkflowDetail } from '../../api/workflow/workflow.ts';
import { NEVER } from '../../core/never.ts';
import { type Output, print, printData } from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { EXIT } from '../errors/exit-code.ts';
import { between } from '../output/when.ts';
import { detachOnInterrupt } from './detach.ts';
import { followWorkflow } from './workflow.ts';

export async function followToEnd(connection: Connection, id: string, output: Output): Promise<void> {
  const silent = output.json !== false || output.quiet;
  using interrupt = detachOnInterrupt({
    title: `workflow ${id}`,
    again: `workron workflow get -f ${id}`,
    async cancel() {
      await connection.json(routes.cancelWorkflow, { params: { id } });
      await followWorkflow(connection, id, { signal: NEVER, silent: true });
    },
  });
  const followed = followWorkflow(connection, id, { signal: interrupt.signal, silent });
  const ended = await Promise.race([followed, interrupt.left]);
  if (typeof ended === 'number') {
    followed.catch(() => undefined);
    process.exitCode = ended;
    return;
  }
  if (output.json) printData(ended, output.json);
  else if (!output.quiet && !process.stdout.isTTY) print(endLine(ended));
  process.exitCode = interrupt.cancelled ? EXIT.interrupted : ended.status === 'done' ? EXIT.ok : EXIT.failed;
}

function endLine({ id, status, started_at, created_at, ended_at }: WorkflowDetail): string {
  return `workflow ${id} ${status}, after ${between(started_at ?? created_at, ended_at)}`;
}
