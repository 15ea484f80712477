/** Runs the commands of jobs through the launcher. */

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatDuration } from '../../core/duration.ts';
import type { Outcome } from '../../core/outcome.ts';
import { cleanText } from '../../core/text.ts';
import type { Log } from '../../ops/log.ts';
import type { CommandExit, CommandLauncher } from '../launcher/launcher.ts';
import type { OutputWriter } from '../report/output-writer.ts';
import type { Assignment, StopReason } from '../run/assignment.ts';
import type { Executor } from '../run/runner.ts';
import { after } from '../time/timer.ts';
import { parentsDocument } from './context-variables.ts';
import { type AttemptFiles, attemptEnvironment } from './environment.ts';
import { shellArgument, shortenVariables } from './oversized.ts';
import { removeFile, takeResult } from './result-file.ts';
import { withInput } from './standard-input.ts';

interface CommandExecutorOptions {
  launcher: CommandLauncher;
  output: OutputWriter;
  /** For the files that commands read and write. */
  folder: { readonly path: string };
  log: Log;
}

export function commandExecutor(options: CommandExecutorOptions): Executor {
  return { run: (assignment) => runCommand(options, assignment) };
}

async function runCommand(options: CommandExecutorOptions, assignment: Assignment): Promise<Outcome> {
  const { job } = assignment;
  const folder = options.folder.path;
  const result = join(folder, `result-${job.id}-${job.attempt}`);
  const parents = job.runContext?.parents ?? [];
  if (parents.length === 0) return runWithFiles(options, assignment, { folder, result, parents: null });
  const file = join(folder, `parents-${job.id}-${job.attempt}.json`);
  await writeFile(file, parentsDocument(parents), { mode: 0o600 });
  try {
    return await runWithFiles(options, assignment, { folder, result, parents: file });
  } finally {
    await rm(file, { force: true });
  }
}

async function runWithFiles(
  options: CommandExecutorOptions,
  assignment: Assignment,
  files: AttemptFiles & { folder: string },
): Promise<Outcome> {
  const { launcher, output, log } = options;
  const { job } = assignment;
  const commandFile = join(files.folder, `command-${job.id}-${job.attempt}`);
  const variablePrefix = join(files.folder, `variable-${job.id}-${job.attempt}`);
  const env = shortenVariables(attemptEnvironment(job, files), variablePrefix);
  const inputFile = join(files.folder, `input-${job.id}-${job.attempt}`);
  const line = withInput(job.command as string, job.input, inputFile);
  const argument = shellArgument(line, commandFile);
  const stream = output.open(assignment, (bytes) => launcher.credit(command, bytes));
  let timedOut = false;
  let command = 0;
  const exit = await new Promise<CommandExit>((resolve) => {
    command = launcher.run(
      {
        command: argument,
        cwd: job.cwd,
        env: env.variables,
        graceMs: job.killGraceMs,
        finish: job.onDisconnect === 'finish',
      },
      {
        onOutput: (data) => stream.push(data),
        onExit: (exit) => {
          disarm();
          resolve(exit);
        },
      },
    );
    const disarm = after(job.timeoutMs, () => {
      timedOut = assignment.stopped === null;
      launcher.stop(command, job.killGraceMs);
    });
    assignment.onStop(() => launcher.stop(command, job.killGraceMs));
  });
  if (exit.left > 0) log.error({ job_id: job.id, processes: exit.left }, 'could not kill all processes of a command');
  await stream.end();
  if (line !== job.command) removeFile(inputFile);
  if (argument !== line) removeFile(commandFile);
  for (const file of env.files) removeFile(file);
  const stopped = exit.stopped === 'asked' && timedOut ? 'timeout' : stopOf(exit, assignment);
  if (stopped === null && exit.exitCode === 0) return succeed(files.result);
  removeFile(files.result);
  return outcomeOf(exit, stopped, { timeoutMs: job.timeoutMs, tail: stream.tail() });
}

type Stop = Exclude<StopReason, 'lost'> | 'timeout' | 'launcher';

/** A command that ended before it was stopped keeps its own outcome. */
function stopOf(exit: CommandExit, assignment: Assignment): Stop | null {
  if (exit.stopped === null) return null;
  if (exit.stopped === 'launcher') return 'launcher';
  if (exit.stopped === 'deadline') return assignment.stopped === 'cancelled' ? 'cancelled' : 'cut_off';
  return assignment.stopped === null || assignment.stopped === 'lost' ? 'interrupted' : assignment.stopped;
}

function succeed(resultFile: string): Outcome {
  const read = takeResult(resultFile);
  if (!read.ok) return { type: 'failed', exitCode: 0, signal: null, error: `exit 0, but ${read.error}` };
  const outcome: Outcome = { type: 'succeeded', exitCode: 0 };
  return read.result === undefined ? outcome : { ...outcome, result: read.result };
}

function outcomeOf(exit: CommandExit, stopped: Stop | null, run: { timeoutMs: number; tail: string }): Outcome {
  const { exitCode, signal } = exit;
  const withTail = (first: string) => (run.tail === '' ? first : `${first}\n${run.tail}`);
  switch (stopped) {
    case 'timeout': {
      const error = withTail(`timed out after ${formatDuration(run.timeoutMs)}; set timeout`);
      return { type: 'timed_out', exitCode, signal, error };
    }
    case 'cancelled':
      return { type: 'cancelled', error: null };
    case 'interrupted':
      return { type: 'interrupted', error: 'the worker was stopped' };
    case 'cut_off':
      return {
        type: 'interrupted',
        error: 'the worker lost contact with the scheduler and stopped the command in time',
      };
    case 'launcher':
      return { type: 'interrupted', error: 'the process that ran the command died, and the command with it' };
    case null: {
      if (exit.startError !== null) {
        const error = cleanText(`cannot be started: ${reasonOf(exit.startError)}`);
        return { type: 'failed', exitCode: null, signal: null, error };
      }
      const error = withTail(signal === null ? `exit ${exitCode}` : `signal ${signal}`);
      return { type: 'failed', exitCode, signal, error };
    }
  }
}

/** The system's error for a command or an environment that is too large names neither. */
function reasonOf(startError: string): string {
  if (!startError.includes('E2BIG')) return startError;
  return `${startError}: its environment is larger than the system takes; no value in env may have 128 KiB`;
}
