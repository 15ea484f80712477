import type { Command } from 'commander';
import type { DutyStatus, Instance } from '../../api/cluster.ts';
import { routes } from '../../api/routes.ts';
import { clientCommand, connect, outputOf, print, printData, refuseExtra, terminalWidth } from '../client-command.ts';
import { oneLine } from '../output/style.ts';
import { type Column, renderTable } from '../output/table.ts';
import { when } from '../output/when.ts';

const INSTANCES: readonly Column<Instance>[] = [
  { title: 'INSTANCE', text: (instance) => oneLine(instance.id), flexible: true, identifies: true },
  {
    title: 'STATE',
    text: (instance) => instance.state,
    format: (instance) => (instance.state === 'online' ? 'green' : 'red'),
  },
  { title: 'ROLES', text: (instance) => oneLine(instance.roles.join(',')) },
  { title: 'LEADS', text: (instance) => String(instance.leads.length), align: 'right' },
  { title: 'VERSION', text: (instance) => oneLine(instance.version), spare: true },
  { title: 'STARTED', text: (instance) => when(instance.started_at), spare: true },
  { title: 'SEEN', text: (instance) => when(instance.seen_at) },
  { title: 'API', text: (instance) => oneLine(instance.url ?? '–'), flexible: true },
];

const DUTIES: readonly Column<DutyStatus>[] = [
  { title: 'DUTY', text: ({ duty }) => duty, identifies: true },
  {
    title: 'LEADER',
    text: ({ leader }) => oneLine(leader ?? 'nobody'),
    flexible: true,
    format: ({ leader }) => (leader === null ? 'red' : 'reset'),
  },
  { title: 'TERM', text: ({ term }) => String(term), align: 'right' },
  { title: 'HELD BY', text: ({ held_by: heldBy }) => heldBy ?? '–' },
  { title: 'UNTIL', text: ({ expires_at: expiresAt }) => when(expiresAt) },
  { title: 'LOCK KEY', text: ({ lock_key: key }) => key?.join(', ') ?? '–' },
];

/** `workron cluster`: lists the instances on a store, and the leader of each duty. */
export function clusterCommand(): Command {
  const command = clientCommand('cluster', 'List the instances of this installation and the leader of each duty');
  return command.allowExcessArguments().action(async () => {
    refuseExtra(command);
    const cluster = await connect(command).json(routes.readCluster);
    const { json, quiet } = outputOf(command);
    if (json) printData(cluster, json);
    else if (quiet) print(cluster.instances.map(({ id }) => `${id}\n`).join(''));
    else {
      const tables = [renderTable(INSTANCES, cluster.instances, terminalWidth())];
      if (cluster.duties.length > 0) tables.push(renderTable(DUTIES, cluster.duties, terminalWidth()));
      print(tables.join('\n'));
    }
  });
}
