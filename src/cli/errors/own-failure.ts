/** For `run` and `wait`, whose exit code speaks of the job: 125 is what says that Workron itself failed. */

import { CliError } from './cli-error.ts';
import { EXIT } from './exit-code.ts';

const KEPT: readonly number[] = [EXIT.usage, EXIT.notFound];

export async function ownFailure(action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!(error instanceof CliError) || KEPT.includes(error.exitCode)) throw error;
    const { hint, problem } = error;
    throw new CliError(EXIT.workronFailed, error.message, { hint, ...(problem === undefined ? {} : { problem }) });
  }
}
