/** The entry point: parses the arguments, runs one command, sets the exit code. */

import { runtimeProblem } from '../node/runtime.ts';
import { CliError, EXIT } from './errors/cli-error.ts';
import { failureOf } from './errors/failure.ts';
import { reportError } from './errors/report.ts';
import { withJsonFields, withMovedFlags } from './global-flags.ts';
import { createProgram } from './program.ts';
import { takeSecrets } from './secrets.ts';

const given = process.argv.slice(2);
const args = given[0] === '__complete' ? given : withMovedFlags(withJsonFields(given));

// A reader that closes the pipe (`workron jobs | head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  throw error;
});

try {
  const problem = runtimeProblem(process.versions.node);
  if (problem !== undefined) throw new CliError(EXIT.failed, problem);
  args.push(...takeSecrets());
  if (args[0] === '__complete') await printCandidates(args.slice(1));
  else await runCommand();
} catch (error) {
  const failure = failureOf(error, args);
  if (failure !== undefined) reportError(failure, asksForJson());
  process.exitCode = failure?.exitCode ?? EXIT.ok;
}

async function runCommand(): Promise<void> {
  const program = await createProgram(args[0], args);
  await program.parseAsync(args.length === 0 ? ['help'] : args, { from: 'user' });
}

/** For the completion of shells, which offer files if it fails. */
async function printCandidates(words: readonly string[]): Promise<void> {
  const [{ complete }, { candidateLines }] = await Promise.all([
    import('./complete/complete.ts'),
    import('./complete/live-values.ts'),
  ]);
  const found = await complete(words);
  if (found === null) process.exitCode = EXIT.failed;
  else process.stdout.write(candidateLines(found));
}

function asksForJson(): boolean {
  const end = args.indexOf('--');
  const own = end < 0 ? args : args.slice(0, end);
  return own.some(
    (flag, index) => flag.startsWith('--json=') || /^(-o|--output=)json$/.test(flag) || isJsonValue(own, index),
  );
}

function isJsonValue(own: readonly string[], index: number): boolean {
  return own[index] === 'json' && ['-o', '--output'].includes(own[index - 1] ?? '');
}
