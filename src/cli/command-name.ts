/** How a user of a clone calls the command line. The build replaces this module: the published package installs `workron`. */
export const COMMAND: string = './bin/workron';
