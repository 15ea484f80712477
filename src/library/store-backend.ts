/** A backend on a store of this process. */

import { decode } from '../api/decode.ts';
import { label } from '../api/fields.ts';
import type { Clock } from '../core/clock.ts';
import type { WorkronNode } from '../node/node.ts';
import { Wake } from '../ops/wake.ts';
import { ticker } from '../scheduler/duties/ticker.ts';
import type { Store } from '../store/store.ts';
import type { Backend } from './backend.ts';
import { Completions } from './completions.ts';
import { apiCalls } from './engine.ts';
import { PendingWaits, stopped } from './pending-waits.ts';
import { schedulerEngine } from './scheduler-engine.ts';

/** The test kit drives these parts by hand. */
export interface StoreBackend extends Backend {
  readonly node: WorkronNode;
  /** Judges every tick that is due. */
  tickSchedules(signal: AbortSignal): Promise<void>;
}

/** The name of an actor; `bad_request` if it is malformed. */
export function actorFrom(given: string | undefined): string | null {
  return given === undefined ? null : decode(label(128), given, '/actor');
}

/** Closing the backend closes the node. */
export function storeBackend(node: WorkronNode, actor: string | null = null): StoreBackend {
  const { store, scheduler, context } = node;
  const closing = new AbortController();
  const completions = new Completions(store, context.telemetry);
  const engine = schedulerEngine(scheduler, store.transactional, { ...context, actor });
  const waits = new PendingWaits(engine, closing.signal);
  const adoptLater = () => {
    if (store.exclusive) void adoptSoon(store, context.clock, closing.signal);
  };

  return {
    node,
    metrics: node.metrics,
    async tickSchedules(signal) {
      using loop = ticker(context, new Wake());
      while ((await loop.tick(signal)) === 0) signal.throwIfAborted();
    },
    engine: {
      ...engine,
      api: apiCalls(node.door(actor)),
      wait: (id, timeoutMs, signal) => waits.wait(id, timeoutMs, signal),
      async enlist(requests, run, options) {
        const enlisted = await engine.enlist(requests, run, options);
        adoptLater();
        return enlisted;
      },
      async complete(success, run, flush) {
        // Otherwise the last output would come after the end. On SQLite the transaction holds up every other write.
        const flushed = store.exclusive ? undefined : flush();
        if (flushed !== undefined) await flushed;
        await engine.complete(success, run, flush);
        completions.add(success);
        adoptLater();
      },
    },
    source() {
      const source = node.source();
      return {
        ...source,
        async heartbeat(beat, signal) {
          const answer = await source.heartbeat(beat, signal);
          if (answer === undefined) return undefined;
          return { ...answer, lost: await completions.withoutCommitted(answer.lost, signal) };
        },
        writeOutput: (chunks, signal) => source.writeOutput(completions.marked(chunks), signal),
        report: (reports, signal) => source.report(completions.marked(reports), signal),
        settle: (settlements, signal) => completions.settle(settlements, (rest) => source.settle(rest, signal), signal),
      };
    },
    runDuties: (signal) => node.runRoles(['scheduler', 'worker'], signal),
    stuck: () => scheduler.health().stuck.filter((loop) => loop !== 'duties'),
    mount: (options) => node.mount(options),
    drain: () => node.drain(),
    async close() {
      closing.abort(stopped());
      await node.close(() => waits.done());
    },
  };
}

/** SQLite does not announce commits of other connections, so the backend polls for a while, less and less often. */
async function adoptSoon(store: Store, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let waitMs = 5; waitMs < 5_000; waitMs *= 2) {
    await clock.sleep(waitMs, signal);
    if (signal.aborted) return;
    // If this fails, the grapher adopts the job later.
    if ((await store.adopt(1_000, signal).catch(() => 0)) > 0) return;
  }
}
