import { writeFileSync } from 'node:fs';

/** Linux takes no single argument of 128 KiB or more. */
const MAX_ARGUMENT_BYTES = 100 * 1024;

/** The command as an argument of `sh -c`; one that is too long for that is put into `file` and read from there. */
export function shellArgument(command: string, file: string): string {
  if (Buffer.byteLength(command) <= MAX_ARGUMENT_BYTES) return command;
  writeFileSync(file, command, { mode: 0o600 });
  return `. '${file.replaceAll("'", `'\\''`)}'`;
}
