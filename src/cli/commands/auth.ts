import { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import { socketIn } from '../../core/socket-address.ts';
import { browserUrl, findLocalServer } from '../../ops/local-server.ts';
import { clientCommand, connect, print } from '../client-command.ts';
import { settingsFrom } from '../flags/setting.ts';

/** `workron auth`: access for programs other than this one. */
export function authCommand(): Command {
  const command = new Command('auth').description('Log in with curl or a browser');
  const header = clientCommand('header', 'Print the header with the token, for curl -H "$(workron auth header)"', {
    ids: false,
  });
  header.action(async () => {
    const { url, token } = settingsFrom(header, 'client');
    const known = token ?? findLocalServer(url)?.token ?? null;
    // Only a server that needs none may be called without: any other refuses, or does not answer, and the error says so.
    if (known === null) await connect(header).json(routes.readRoot);
    print(known === null ? 'x-workron: no-token' : `authorization: Bearer ${known}`);
  });
  const link = clientCommand('link', 'Print a link to the dashboard that logs in, once, within ten minutes', {
    ids: false,
  });
  link.action(async () => {
    const { url } = settingsFrom(link, 'client');
    const { path } = await connect(link).json(routes.createLink);
    // The address of the dashboard is not known over a socket.
    print(socketIn(url) === undefined ? browserUrl(url).replace(/\/+$/, '') + path : path);
  });
  return command.addCommand(header).addCommand(link);
}
