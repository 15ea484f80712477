/** How errors look: `error:` and `hint:` on stderr, or a problem document where `--json` was asked for. */

import { styled } from '../output/style.ts';
import type { CliError } from './cli-error.ts';
import { EXIT } from './exit-code.ts';

export function reportError({ message, hint, problem, exitCode }: CliError, json: boolean): void {
  if (json) {
    const told = problem ?? { title: message, code: codeOf(exitCode) };
    process.stderr.write(`${JSON.stringify(hint === undefined ? told : { ...told, hint })}\n`);
    return;
  }
  process.stderr.write(`${styled('red', 'error:', process.stderr)} ${message}\n`);
  if (hint !== undefined) process.stderr.write(`${styled('cyan', 'hint:', process.stderr)} ${hint}\n`);
}

/** Something that is neither data nor an error. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

function codeOf(exitCode: number): string {
  return Object.entries(EXIT).find(([, code]) => code === exitCode)?.[0] ?? 'failed';
}
