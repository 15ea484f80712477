import { type Command, Option } from 'commander';
import type { Job } from '../../api/job.ts';
import type { NotifyTargetView, NotifyTestInput } from '../../api/notify.ts';
import { routes } from '../../api/routes.ts';
import { isTerminal } from '../../core/job.ts';
import { addListing, clientCommand, connect, listCommand, outputOf, print, printData } from '../client-command.ts';
import { EXIT, usageError } from '../errors/cli-error.ts';
import { collectNotify, countFlag, durationFlag, type NotifyFlag } from '../flags/values.ts';
import { waitForEnd } from '../follow/wait.ts';
import { oneLine } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import { printList } from '../output/table.ts';

const TIMEOUT_MS = 60_000;
const MAX_TARGETS = 16;

interface TestFlags {
  installation?: number | 'all';
  timeout: number;
}

const COLUMNS: readonly Column<NotifyTargetView>[] = [
  { title: 'NUMBER', text: ({ place }) => String(place), align: 'right', identifies: true },
  { title: 'TARGET', text: ({ service }) => service },
  { title: 'EVENTS', text: ({ on }) => on.join(','), flexible: true },
];
const LISTING = { columns: COLUMNS, id: ({ place }: NotifyTargetView) => String(place), none: 'no targets' };

/** `workron notify`: the installation's targets of notifications; `test` tries them or others. */
export function notifyCommand(): Command {
  const command = listCommand('notify', 'List the targets of notifications of the installation; try targets');
  addListing(command, 'List the targets of the installation', async (called) => {
    const { items } = await connect(called).json(routes.listNotifyTargets);
    printList(items, LISTING, outputOf(called));
  });
  return command.addCommand(testCommand());
}

/** Exits with 1 if a message was not delivered, and with 124 if that is not known in time. */
function testCommand(): Command {
  const command = clientCommand('test', 'Send a test message to targets and wait for its delivery')
    .argument('[target...]', 'Targets as for --notify: EVENT,…=URL or EVENT,…=COMMAND', collectNotify)
    .option(
      '--installation <NUMBER|all>',
      "A target of the server's own list by its place, from 1, or all of them",
      placeFlag,
    )
    .addOption(
      new Option('--timeout <DURATION>', 'Longest wait for the delivery')
        .argParser(durationFlag)
        .default(TIMEOUT_MS, '1m'),
    );
  return command.action(async (targets: NotifyFlag[], { installation, timeout }: TestFlags) => {
    if (targets.length > 0 === (installation !== undefined))
      throw usageError('expected targets or --installation', "workron notify test 'failed=https://example.com/hook'");
    const connection = connect(command);
    const body = (installation === undefined ? { notify: targets } : { installation }) as NotifyTestInput;
    const { items } = await connection.json(routes.testNotify, { body });
    const jobs = await Promise.all(
      items.map(async ({ type, job_id }) => ({
        type,
        ...(await waitForEnd(connection, job_id, { timeoutMs: timeout })),
      })),
    );
    const { json, quiet } = outputOf(command);
    if (json) printData(jobs, json);
    else if (quiet) print(jobs.map(({ id }) => `${id}\n`).join(''));
    else print(jobs.map((job, place) => `${place + 1}. ${job.type}: ${resultOf(job)}\n`).join(''));
    if (jobs.some(({ status }) => isTerminal(status) && status !== 'done')) process.exitCode = EXIT.failed;
    else if (jobs.some(({ status }) => !isTerminal(status))) process.exitCode = EXIT.timeout;
  });
}

function resultOf({ id, status, failure }: Pick<Job, 'id' | 'status' | 'failure'>): string {
  if (status === 'done') return `delivered (job ${id})`;
  if (!isTerminal(status)) return `not delivered yet (job ${id} is ${status}): workron why ${id}`;
  return `not delivered (job ${id}): ${failure === null ? status : oneLine(failure.line)}`;
}

function placeFlag(text: string): number | 'all' {
  return text === 'all' ? text : countFlag(1, MAX_TARGETS)(text);
}
