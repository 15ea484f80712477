import { spawn } from 'node:child_process';
import { Command } from 'commander';
import { PAGE_PATH } from '../../api/routes.ts';
import { version } from '../../node/version.ts';
import { browserUrl } from '../../ops/local-server.ts';
import { clientCommand, jobId, outputOf, print, printData } from '../client-command.ts';
import { settingsFrom } from '../flags/setting.ts';

/** The programs that open an address in the browser. */
const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', linux: 'xdg-open' };

/** `workron open [ID]`: prints the address of the dashboard and opens it in the browser. */
export function openCommand(): Command {
  const command = clientCommand('open', 'Open the dashboard, or a job in it, in the browser')
    .argument('[id]', 'Job id')
    .option('--print', 'Only print the address');
  return command.action(async (id: string | undefined, { print: only = false }: { print?: boolean }) => {
    const { url } = settingsFrom(command, 'client');
    const address = `${browserUrl(url)}${PAGE_PATH}/${id === undefined ? '' : `jobs/${jobId(id)}`}`;
    print(address);
    const opener = OPENERS[process.platform];
    if (only || !process.stdout.isTTY || opener === undefined) return;
    const child = spawn(opener, [address], { stdio: 'ignore', detached: true });
    // The address is printed; a machine without a browser is not an error.
    child.on('error', () => undefined);
    child.unref();
  });
}

/** `workron version`: the version of this program, and of Node. */
export function versionCommand(): Command {
  const command = new Command('version')
    .description('Print the version of workron and of Node')
    .option('--json', 'Print JSON');
  return command.action(() => {
    const versions = { workron: version, node: process.versions.node };
    if (outputOf(command).json) printData(versions, 'json');
    else print(`workron ${versions.workron}, Node ${versions.node}`);
  });
}
