import { existsSync } from 'node:fs';

/**
 * How a user of a clone calls the command line: from its folder by path, else by name, from a folder of the PATH. The build
 * replaces this module: the published package installs `workron`.
 */
export const COMMAND: string = existsSync('bin/workron') ? './bin/workron' : 'workron';
