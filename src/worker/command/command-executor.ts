/** Runs the commands of jobs through the launcher. */

import { join } from 'node:path';
import { formatDuration } from '../../core/duration.ts';
import { messageOf } from '../../core/error.ts';
import type { Outcome } from '../../core/outcome.ts';
import { cleanText } from '../../core/text.ts';
import type { Log } from '../../ops/log.ts';
import type { Owner } from '../launcher/command-user.ts';
import type { ExitMessage } from '../launcher/frames.ts';
import type { CommandLauncher } from '../launcher/launchers.ts';
import { maskerOf } from '../report/mask-job.ts';
import type { OutputWriter } from '../report/output-writer.ts';
import type { Reporter } from '../report/reporter.ts';
import type { Assignment, StopReason } from '../run/assignment.ts';
import type { Executor } from '../run/runner.ts';
import { after } from '../time/timer.ts';
import { CommandReports, fetchCheckpoint } from './command-reports.ts';
import { parentsDocument } from './context-variables.ts';
import { type AttemptFiles, attemptEnvironment } from './environment.ts';
import { type Isolation, withLimits } from './isolation.ts';
import { shellArgument, shortenVariables } from './oversized.ts';
import { removeFile, writePlainFile } from './plain-file.ts';
import { takeResult } from './result-file.ts';
import { takeRetryAfter } from './retry-after-file.ts';
import { withInput } from './standard-input.ts';

interface CommandExecutorOptions {
  launcher: CommandLauncher;
  output: OutputWriter;
  reporter: Reporter;
  /** For the files that commands read and write. */
  folder: { readonly commands: string };
  isolation: Pick<Isolation, 'user' | 'limits'>;
  log: Log;
}

export function commandExecutor(options: CommandExecutorOptions): Executor {
  return { run: (assignment) => runCommand(options, assignment) };
}

async function runCommand(options: CommandExecutorOptions, assignment: Assignment): Promise<Outcome> {
  const { job } = assignment;
  const owner = options.isolation.user;
  const folder = options.folder.commands;
  const fileOf = (name: string) => join(folder, `${name}-${job.id}-${job.attempt}`);
  const parents = job.runContext?.parents ?? [];
  const files = {
    owner,
    fileOf,
    result: fileOf('result'),
    parents: parents.length === 0 ? null : `${fileOf('parents')}.json`,
    checkpoint: fileOf('checkpoint'),
    lastCheckpoint: fileOf('last-checkpoint'),
    progress: fileOf('progress'),
    retryAfter: fileOf('retry-after'),
  };
  try {
    if (files.parents !== null) writePlainFile(files.parents, parentsDocument(parents), owner);
    // No attempt before the first can have stored one.
    if (job.attempt > 1) {
      await fetchCheckpoint(assignment, options.reporter, { path: files.lastCheckpoint, owner });
    }
  } catch (error) {
    if (assignment.stopped === 'cancelled') return { type: 'cancelled', error: null };
    return { type: 'interrupted', error: cleanText(`its files could not be prepared: ${messageOf(error)}`) };
  }
  try {
    return await runWithFiles(options, assignment, files);
  } finally {
    if (files.parents !== null) removeFile(files.parents);
    if (job.attempt > 1) removeFile(files.lastCheckpoint);
  }
}

async function runWithFiles(
  options: CommandExecutorOptions,
  assignment: Assignment,
  files: AttemptFiles & { owner: Owner | null; fileOf: (name: string) => string },
): Promise<Outcome> {
  const { launcher, output, reporter, log } = options;
  const { job } = assignment;
  const { owner } = files;
  const commandFile = files.fileOf('command');
  const inputFile = files.fileOf('input');
  const env = shortenVariables(attemptEnvironment(job, files), files.fileOf('variable'), owner);
  const line = withInput(job.command as string, job.input, { path: inputFile, owner });
  const limited = withLimits(line, options.isolation.limits);
  const argument = shellArgument(limited, commandFile, owner);
  const stream = output.open(assignment, (bytes) => launcher.credit(command, bytes));
  const note = (line: string) => stream.push(Buffer.from(`workron: ${line}\n`));
  const reports = new CommandReports({ assignment, reporter, files, note, log });
  let timedOut = false;
  let command = 0;
  const exit = await new Promise<ExitMessage>((resolve) => {
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
  await reports.end({ clean: exit.exitCode === 0 && exit.stopped === null });
  await stream.end();
  if (line !== job.command) removeFile(inputFile);
  if (argument !== limited) removeFile(commandFile);
  for (const file of env.files) removeFile(file);
  const stopped = exit.stopped === 'asked' && timedOut ? 'timeout' : stopOf(exit, assignment);
  const mask = maskerOf(job);
  const retryAfter = takeRetryAfter(files.retryAfter, owner, mask);
  const usage = exit.usage === null ? {} : { usage: exit.usage };
  if (stopped === null && exit.exitCode === 0) {
    return { ...succeed(takeResult(files.result, owner, mask), retryAfter), ...usage };
  }
  removeFile(files.result);
  return { ...outcomeOf(exit, stopped, { timeoutMs: job.timeoutMs, tail: stream.tail(), retryAfter }), ...usage };
}

type Stop = Exclude<StopReason, 'lost'> | 'timeout' | 'launcher';

/** A command that ended before it was stopped keeps its own outcome. */
function stopOf(exit: ExitMessage, assignment: Assignment): Stop | null {
  if (exit.stopped === null) return null;
  if (exit.stopped === 'launcher') return 'launcher';
  if (exit.stopped === 'deadline') return assignment.stopped === 'cancelled' ? 'cancelled' : 'cut_off';
  return assignment.stopped === null || assignment.stopped === 'lost' ? 'interrupted' : assignment.stopped;
}

function succeed(read: ReturnType<typeof takeResult>, retryAfter: RetryAfter): Outcome {
  const error = retryAfter !== null && 'error' in retryAfter ? retryAfter.error : read.ok ? null : read.error;
  if (error !== null) return { type: 'failed', exitCode: 0, signal: null, error: `exit 0, but ${error}` };
  if (retryAfter !== null && 'delayMs' in retryAfter) return { type: 'snoozed', delayMs: retryAfter.delayMs };
  const outcome: Outcome = { type: 'succeeded', exitCode: 0 };
  return !read.ok || read.result === undefined ? outcome : { ...outcome, result: read.result };
}

type RetryAfter = ReturnType<typeof takeRetryAfter>;

function outcomeOf(
  exit: ExitMessage,
  stopped: Stop | null,
  run: { timeoutMs: number; tail: string; retryAfter: RetryAfter },
): Outcome {
  const { exitCode, signal } = exit;
  const withTail = (first: string) => (run.tail === '' ? first : `${first}\n${run.tail}`);
  switch (stopped) {
    case 'timeout': {
      const error = withTail(`timed out after ${formatDuration(run.timeoutMs)}`);
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
      const how = signal === null ? `exit ${exitCode}` : `signal ${signal}`;
      const { retryAfter } = run;
      if (retryAfter === null) return { type: 'failed', exitCode, signal, error: withTail(how) };
      if ('error' in retryAfter) {
        return { type: 'failed', exitCode, signal, error: withTail(`${how}; ${retryAfter.error}`) };
      }
      return { type: 'failed', exitCode, signal, error: withTail(how), retryAfterMs: retryAfter.delayMs };
    }
  }
}

/** The system's error for a command or an environment that is too large names neither. */
function reasonOf(startError: string): string {
  if (!startError.includes('E2BIG')) return startError;
  return `${startError}: its environment is larger than the system takes; no value in env may have 128 KiB`;
}
