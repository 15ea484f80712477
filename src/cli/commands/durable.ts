/** Durable functions: their steps. */

import type { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import type { Step } from '../../api/step.ts';
import { clientCommand, connect, jobId, outputOf, print, printData } from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { oneLine } from '../output/style.ts';
import { clock } from '../output/when.ts';

/** `workron steps ID`: prints the steps of a job's function, one per line. */
export function stepsCommand(): Command {
  const command = clientCommand('steps', 'List the steps of a durable function, and what it waits for', {
    ids: false,
  }).argument('<id>', 'Job id');
  return command.action(async (text: string) => {
    const steps = await allSteps(connect(command), jobId(text));
    const { json } = outputOf(command);
    if (json) printData(steps, json);
    else for (const step of steps) print(oneLine(stepLine(step)));
  });
}

async function allSteps(connection: Connection, id: string): Promise<Step[]> {
  const steps: Step[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const query = { after: String(after) };
    const page: { items: Step[]; next: number | null } = await connection.json(routes.listSteps, {
      params: { id },
      query,
    });
    steps.push(...page.items);
    after = page.next;
  }
  return steps;
}

function stepLine({ name, kind, tries, started_at, ended_at, until, result, thrown }: Step): string {
  const what = `${kind} ${name}`;
  if (ended_at === null) {
    const again = kind === 'step' ? `is tried again (${tries} failed)` : 'waits';
    return `${clock(started_at)}  ${what}: ${again}${until === null ? '' : ` until ${clock(until)}`}`;
  }
  const end = thrown !== null ? `failed: ${thrown.message}` : result === undefined ? 'done' : JSON.stringify(result);
  return `${clock(ended_at)}  ${what}: ${end}`;
}
