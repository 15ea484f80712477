/** The history of a job. */

import { z } from 'zod';
import { type HistoryEntry as DomainEntry, HISTORY_EVENTS } from '../core/history.ts';
import { toIdOrNull, toInstant, wireId, wireInstant } from './fields.ts';
import { itemsOf, named } from './schemas.ts';

const HistoryEntry = named(
  'HistoryEntry',
  z.object({
    at: wireInstant,
    event: z.enum(HISTORY_EVENTS),
    text: z.string().meta({ description: 'What happened, for people. Its wording may change.' }),
    attempt: z.number().nullable(),
    worker_id: wireId.nullable(),
    by: z.string().nullable().meta({ description: 'With `submitted` and `changed`: who did it.' }),
    parent_id: wireId.nullable().meta({ description: 'With `parent_ended`: the job that ended.' }),
  }),
);
type HistoryEntry = z.output<typeof HistoryEntry>;

export const History = named('History', itemsOf(HistoryEntry));

export function historyToWire({ at, event, text, attempt, workerId, parentId, by }: DomainEntry): HistoryEntry {
  const ids = { worker_id: toIdOrNull(workerId), parent_id: toIdOrNull(parentId) };
  return { at: toInstant(at), event, text, attempt, by, ...ids };
}
