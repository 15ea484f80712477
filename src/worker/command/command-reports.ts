/** What a command reports through files while it runs and at its end: progress and checkpoints. */

import { lstatSync } from 'node:fs';
import { MAX_CHECKPOINT_BYTES } from '../../core/checkpoint.ts';
import { messageOf } from '../../core/error.ts';
import { Stopped } from '../../core/handler-errors.ts';
import type { Log } from '../../ops/log.ts';
import { monotonicMs } from '../../ops/monotonic.ts';
import type { Owner } from '../launcher/command-user.ts';
import { isRefusal } from '../refusal.ts';
import type { Reporter } from '../report/reporter.ts';
import type { Assignment } from '../run/assignment.ts';
import { after } from '../time/timer.ts';
import { CheckpointVersion, removeWithDrafts, writeCheckpointFile } from './checkpoint-file.ts';
import { removeFile } from './plain-file.ts';
import { readProgress } from './progress-file.ts';

const LOOK_EVERY_MS = 1_000;
/** How long the last checkpoint of a command is sent again, and the one before is asked for, if no scheduler answers. */
const PERSIST_MS = 30_000;
const PAUSE_MS = 1_000;
const UNREADABLE = 'unreadable';

interface CommandReportsOptions {
  assignment: Assignment;
  reporter: Reporter;
  /** `owner`: whom they belong to, if not to the user of this process. */
  files: { checkpoint: string; progress: string; owner: Owner | null };
  /** Adds a line to the output of the command. */
  note: (line: string) => void;
  log: Log;
}

export class CommandReports {
  readonly #options: CommandReportsOptions;
  #disarm: () => void;
  /** The identity of the version that was stored, or that cannot be. */
  #done: string | undefined;
  #sending: Promise<boolean> | undefined;
  #failed = false;
  /** The version of the progress that was read. The clock of a file system is coarse, so a version has a size too. */
  #progressRead: string | undefined;
  #hasProgress = false;

  constructor(options: CommandReportsOptions) {
    this.#options = options;
    this.#disarm = after(LOOK_EVERY_MS, () => this.#look());
  }

  /** Sends what the command wrote last, then removes its files. `clean`: it was not stopped, and has left no drafts. */
  async end({ clean }: { clean: boolean }): Promise<void> {
    this.#disarm();
    const { assignment, files, reporter } = this.#options;
    await this.#sending;
    const until = monotonicMs() + PERSIST_MS;
    while (!assignment.lost && !(await this.#sendCheckpoint()) && monotonicMs() < until) await pause();
    this.#readProgress();
    if (this.#hasProgress) await reporter.end(assignment);
    if (this.#progressRead !== undefined) removeFile(files.progress);
    if (!clean || this.#done !== undefined) removeWithDrafts(files.checkpoint, files.owner);
  }

  #look(): void {
    this.#disarm = after(LOOK_EVERY_MS, () => this.#look());
    this.#readProgress();
    this.#sending ??= this.#sendCheckpoint().finally(() => {
      this.#sending = undefined;
    });
  }

  #readProgress(): void {
    const { assignment, reporter, files } = this.#options;
    const found = lstatSync(files.progress, { throwIfNoEntry: false });
    const version = `${found?.mtimeMs}.${found?.size}`;
    if (found === undefined || version === this.#progressRead) return;
    this.#progressRead = version;
    const progress = readProgress(files.progress, files.owner);
    if (progress === null) return;
    this.#hasProgress = true;
    reporter.progress(assignment, progress);
  }

  /** Sends the present version unless it was sent. Returns false if it should be tried again. */
  async #sendCheckpoint(): Promise<boolean> {
    const { assignment, reporter, note, log } = this.#options;
    using version = this.#present();
    if (version === null || version.identity === this.#done) return true;
    try {
      if (version.bytes > MAX_CHECKPOINT_BYTES) {
        this.#done = version.identity;
        note(`the checkpoint was not stored: it has ${version.bytes} bytes, and at most ${MAX_CHECKPOINT_BYTES} are`);
        return true;
      }
      await reporter.checkpoint(assignment, version);
      this.#failed = false;
      this.#done = version.identity;
      return true;
    } catch (error) {
      if (error instanceof Stopped) return true;
      if (!this.#failed) log.warn({ job_id: assignment.jobId, error }, 'could not store a checkpoint');
      this.#failed = true;
      if (!isRefusal(error)) return false;
      this.#done = version.identity;
      note(`the checkpoint was not stored: ${messageOf(error)}`);
      return true;
    }
  }

  /** The present version; `null` if there is none, or something else than a plain file. */
  #present(): CheckpointVersion | null {
    const { files } = this.#options;
    try {
      return CheckpointVersion.open(files.checkpoint, files.owner);
    } catch (error) {
      if (this.#done !== UNREADABLE) this.#options.note(`$WORKRON_CHECKPOINT ${messageOf(error)}`);
      this.#done = UNREADABLE;
      return null;
    }
  }
}

/** Writes the last checkpoint of the job to `file`, if there is one. Rejects if no scheduler answers for long. */
export async function fetchCheckpoint(
  assignment: Assignment,
  reporter: Reporter,
  file: { path: string; owner: Owner | null },
): Promise<void> {
  const { signal } = assignment;
  for (const until = monotonicMs() + PERSIST_MS; ; await pause()) {
    try {
      const content = await reporter.lastCheckpoint(assignment, signal);
      if (content !== null) await writeCheckpointFile(file, content, signal);
      return;
    } catch (error) {
      if (signal.aborted || isRefusal(error) || monotonicMs() >= until) throw error;
    }
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => void after(PAUSE_MS, resolve));
}
