import type { Command } from 'commander';
import { countText } from '../../api/count-text.ts';
import { routes } from '../../api/routes.ts';
import type { Tick } from '../../api/tick.ts';
import { clientCommand, connect, type Output, outputOf, print, printData, terminalWidth } from '../client-command.ts';
import { usageError } from '../errors/cli-error.ts';
import { note } from '../errors/report.ts';
import { collectList, pastFlag } from '../flags/values.ts';
import { runOf, TICK_COLUMNS } from '../output/schedule.ts';
import { renderTable } from '../output/table.ts';

const keyed = (keys: string[] | undefined, idempotencyKey: string | undefined) => ({
  body: keys === undefined ? {} : { keys },
  headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
});

/** `workron schedule run NAME`: runs it now, even if it is paused. */
export function scheduleRunCommand(): Command {
  const command = clientCommand('run', 'Run a schedule now, paused or not')
    .argument('<name>', 'Schedule name')
    .option('--key <KEY,…>', 'Only for these keys of its for_each', collectList)
    .option('--idempotency-key <KEY>', 'Makes it safe to repeat: the same key runs nothing new');
  return command.action(async (name: string, flags: { key?: string[]; idempotencyKey?: string }) => {
    const call = keyed(flags.key, flags.idempotencyKey);
    const { items } = await connect(command).json(routes.runSchedule, { params: { name }, ...call });
    const output = outputOf(command);
    const [only] = items;
    if (items.length !== 1 || only === undefined || output.json || output.quiet) return showRuns(items, items, output);
    print(`started ${runOf(only)}`);
  });
}

interface BackfillFlags {
  from?: string;
  to?: string;
  key?: string[];
  dryRun?: boolean;
  idempotencyKey?: string;
}

/** `workron schedule backfill NAME --from … --to …`: runs past ticks that have no run. */
export function scheduleBackfillCommand(): Command {
  const command = clientCommand('backfill', 'Run past ticks of a schedule that did not run')
    .argument('<name>', 'Schedule name')
    .option('--from <INSTANT>', 'First tick to run; 2h is two hours ago', pastFlag)
    .option('--to <INSTANT>', 'Run ticks before this instant (default: now)', pastFlag)
    .option('--key <KEY,…>', 'Only for these keys of its for_each', collectList)
    .option('--dry-run', 'Only list the ticks')
    .option('--idempotency-key <KEY>', 'Makes it safe to repeat: the same key runs nothing new');
  return command.action(async (name: string, { from, to, key, dryRun, idempotencyKey }: BackfillFlags) => {
    if (from === undefined)
      throw usageError('expected --from', 'workron schedule backfill nightly --from 3d --dry-run');
    const call = keyed(key, idempotencyKey);
    const body = { ...call.body, from, to: to ?? new Date().toISOString(), ...(dryRun ? { dry_run: true } : {}) };
    const answer = await connect(command).json(routes.backfillSchedule, { params: { name }, ...call, body });
    const output = outputOf(command);
    if (!dryRun || output.json) return showRuns(answer.items, answer, output);
    for (const { key: one, scheduled_for } of answer.missing)
      print(one === null ? scheduled_for : `${scheduled_for}  ${one}`);
    if (!output.quiet)
      note(`${countText(answer.missing.length, 'tick has', 'ticks have')} no run; leave out --dry-run to run`);
  });
}

function showRuns(ticks: readonly Tick[], answer: unknown, { json, quiet }: Output): void {
  if (json) return printData(answer, json);
  if (quiet) return print(ticks.map(({ job_id, workflow_id }) => job_id ?? workflow_id ?? '').join('\n'));
  print(ticks.length === 0 ? 'nothing to run' : renderTable(TICK_COLUMNS, ticks, terminalWidth()));
}
