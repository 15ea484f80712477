/** Writes decisions of callers to the audit, around the change that each makes. */

import type { AuditEnd, Decision, NewAuditEntry } from '../../core/audit.ts';
import { type ErrorCode, isWorkronError, WorkronError } from '../../core/error.ts';
import type { SchedulerContext } from '../context.ts';

const WRITE_TIMEOUT_MS = 5_000;

/** The entry of a decision while its change is made. */
export interface OpenEntry {
  readonly id: number;
  /** What the change adds to the entry. */
  details: NewAuditEntry['details'];
}

export interface Decisions {
  /**
   * Makes a change that is on record. The entry is written first, so a change that cannot be recorded is not made, and a process
   * that dies leaves an entry without a result. If the result cannot be written, the log has it.
   */
  decide<T>(decision: Decision, change: (entry: OpenEntry) => T | Promise<T>): Promise<T>;
  /** Notes a decision that was refused before anything was tried. */
  noteRefusal(decision: Decision, code: ErrorCode): Promise<void>;
}

export function decisionsOf({ store, log }: Pick<SchedulerContext, 'store' | 'log'>): Decisions {
  const add = async (entry: NewAuditEntry): Promise<number> =>
    (await store.addAudit([entry], AbortSignal.timeout(WRITE_TIMEOUT_MS)))[0] as number;

  async function end(decision: Decision, { result, details }: AuditEnd, write: () => Promise<unknown>): Promise<void> {
    const { requestId: request_id, ...about } = decision;
    const line = { ...about, result, ...(details !== null && { details }), request_id };
    log.info(line, 'audit');
    await write().catch((error: unknown) => {
      log.error({ error, ...line }, 'the result of a change was not written to the audit');
    });
  }

  return {
    async decide(decision, change) {
      const id = await add({ ...decision, result: null, details: null, partOf: null }).catch((cause: unknown) => {
        if (isWorkronError(cause)) throw cause;
        const detail = 'Nothing was changed: the audit could not be written';
        throw new WorkronError('store_unavailable', detail, { cause });
      });
      const entry: OpenEntry = { id, details: null };
      const ended = (result: AuditEnd['result']) => {
        const { details } = entry;
        const write = () => store.endAudit([id], { result, details }, AbortSignal.timeout(WRITE_TIMEOUT_MS));
        return end(decision, { result, details }, write);
      };
      try {
        const changed = await change(entry);
        await ended('ok');
        return changed;
      } catch (error) {
        await ended(isWorkronError(error) ? error.code : 'internal');
        throw error;
      }
    },
    noteRefusal: (decision, code) =>
      end(decision, { result: code, details: null }, () =>
        add({ ...decision, result: code, details: null, partOf: null }),
      ),
  };
}
