import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** True if a program of this name can be run. */
export function onPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
