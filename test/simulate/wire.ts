/** The network between workers or clients and schedulers, with the time-outs and the fail-over of a worker over HTTP. */

import { isWorkronError, WorkronError } from '../../src/core/error.ts';
import type { Scheduler } from '../../src/scheduler/scheduler.ts';
import { FailOver } from '../../src/worker/fail-over.ts';
import type { Conditions } from './conditions.ts';
import type { SchedulerProcess } from './scheduler-process.ts';
import type { Part } from './virtual-time.ts';

const DEADLINE_MS = 8_000;

interface WireOptions {
  /** The part that calls, and its number among the workers; -1 for clients. */
  sender: Part;
  target: number;
  /** Schedulers in the order in which they are tried. */
  schedulers: readonly SchedulerProcess[];
  conditions: Conditions;
}

export interface WireCall<T> {
  /** Carried out by the scheduler. */
  run: (scheduler: Scheduler, signal: AbortSignal) => Promise<T>;
  signal: AbortSignal;
  /** For how long the scheduler may wait before it answers. */
  waitMs?: number;
}

export class Wire {
  readonly #options: WireOptions;
  readonly #failOver: FailOver;

  constructor(options: WireOptions) {
    this.#options = options;
    this.#failOver = new FailOver(options.schedulers.length);
  }

  /** Sends the call to a scheduler, and to the next one if that is away. */
  call<T>({ run, signal, waitMs = 0 }: WireCall<T>): Promise<T> {
    const { schedulers } = this.#options;
    return this.#failOver.send(
      {
        deadlineMs: DEADLINE_MS + waitMs,
        send: (place, either) => this.#send(schedulers[place] as SchedulerProcess, run, either),
        unanswered: () => unreachable('no answer in time'),
      },
      signal,
    );
  }

  /** Sends the call to one scheduler: a client does not know whether it may send it again. */
  callOnce<T>(run: WireCall<T>['run'], signal: AbortSignal): Promise<T> {
    const { sender, schedulers } = this.#options;
    const either = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]);
    return this.#send(sender.chance.pick(schedulers), run, either);
  }

  #send<T>(process: SchedulerProcess, run: WireCall<T>['run'], signal: AbortSignal): Promise<T> {
    const { sender, target, conditions } = this.#options;
    const { time } = sender;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const fate = conditions.wireFate(target, sender);
      const hungUp = new AbortController();
      const receive = (settle: () => void, ms: number) => {
        if (ms !== Number.POSITIVE_INFINITY) time.after(ms, sender, settle);
      };
      const give = (settle: () => void) => {
        if (fate.answer === 'lost' || conditions.isCut(target))
          receive(() => reject(unreachable('connection lost')), fate.giveUpMs);
        else receive(settle, fate.answerMs);
      };
      const { part, scheduler } = process;
      const onAbort = () => {
        reject(signal.reason as Error);
        if (fate.cancels) time.after(fate.requestMs, part, () => hungUp.abort(new Error('the caller hung up')));
      };
      signal.addEventListener('abort', onAbort, { once: true });
      if (fate.request === 'lost') return receive(() => reject(unreachable('connection lost')), fate.giveUpMs);
      if (!part.alive || scheduler === undefined)
        return receive(() => reject(unreachable('connection refused')), fate.answerMs);
      const stay = part.onDeath(() => receive(() => reject(unreachable('connection reset')), fate.giveUpMs));
      const arrive = async (answered: (settle: () => void) => void): Promise<void> => {
        const settle = await run(scheduler, hungUp.signal).then(
          (value) => () => resolve(structuredClone(value)),
          (error: Error) => () => reject(isWorkronError(error) ? error : new WorkronError('internal', error.message)),
        );
        stay();
        answered(settle);
      };
      time.after(fate.requestMs, part, () => void arrive(give));
      if (fate.againMs !== null) time.after(fate.requestMs + fate.againMs, part, () => void arrive(() => undefined));
    });
  }
}

function unreachable(why: string): WorkronError {
  return new WorkronError('unreachable', why);
}
