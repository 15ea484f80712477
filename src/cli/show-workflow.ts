/** A workflow is followed to its end, and the exit code says how it ended. */

import { routes } from '../api/routes.ts';
import type { WorkflowDetail } from '../api/workflow/workflow.ts';
import { NEVER } from '../core/never.ts';
import { type Output, print, printJson } from './client-command.ts';
import type { Connection } from './connection.ts';
import { detachOnInterrupt } from './detach.ts';
import { EXIT } from './exit-code.ts';
import { followWorkflow } from './follow-workflow.ts';
import { between } from './when.ts';

export async function followToEnd(connection: Connection, id: string, output: Output): Promise<void> {
  const silent = output.json || output.quiet;
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
  if (output.json) printJson(ended);
  else if (!output.quiet && !process.stdout.isTTY) print(endLine(ended));
  process.exitCode = interrupt.cancelled ? EXIT.interrupted : ended.status === 'done' ? EXIT.ok : EXIT.failed;
}

function endLine({ id, status, started_at, created_at, ended_at }: WorkflowDetail): string {
  return `workflow ${id} ${status}, after ${between(started_at ?? created_at, ended_at)}`;
}
