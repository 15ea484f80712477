/** Prints errors: `error:` and `hint:` on stderr, or a problem document with `--json`. */

import { jsonText } from '../output/json-text.ts';
import { harmless, styled } from '../output/style.ts';
import type { CliError } from './cli-error.ts';
import { EXIT } from './cli-error.ts';

export function reportError({ message, hint, problem, exitCode }: CliError, json: string | boolean): void {
  if (json) {
    const document = problem ?? { title: message, code: codeOf(exitCode) };
    process.stderr.write(`${jsonText(hint === undefined ? document : { ...document, hint })}\n`);
    return;
  }
  process.stderr.write(`${styled('red', 'error:', process.stderr)} ${withCutWords(message)}\n`);
  if (hint !== undefined) process.stderr.write(`${styled('cyan', 'hint:', process.stderr)} ${withCutWords(hint)}\n`);
}

/** The text may have parts of what a job or a server sent. A value that is longer than any path or address would fill the screen. */
function withCutWords(text: string): string {
  return harmless(text).replace(/\S{257,}/g, (word) => `${word.slice(0, 60)}…`);
}

/** Prints a note to stderr, which is neither data nor an error. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

function codeOf(exitCode: number): string {
  return Object.entries(EXIT).find(([, code]) => code === exitCode)?.[0] ?? 'failed';
}
