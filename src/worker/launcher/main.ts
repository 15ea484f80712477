/** The code of the processes by which a worker starts commands. */

import { type LauncherProcessOptions, runLauncher } from './launcher-process.ts';
import type { StarterOptions } from './remote-starter.ts';
import { runStarter } from './starter-process.ts';

const [role, options = ''] = process.argv.slice(2);
if (role === 'starter') await runStarter(JSON.parse(options) as StarterOptions);
else await runLauncher(JSON.parse(options) as LauncherProcessOptions);
