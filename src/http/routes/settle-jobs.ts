import { outcomeFromWire, SettleAnswer, SettleItem, SettleRequest, type SettleResult } from '../../api/settle.ts';
import type { Settlement } from '../../core/outcome.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';

export const settleJobs = defineRoute({
  method: 'POST',
  path: '/workers/:id/settle',
  scope: 'work',
  summary: 'A worker reports how attempts ended; each report is answered on its own',
  body: SettleRequest,
  textFromJobs: true,
  bodyLimit: 64 * 1024 * 1024,
  quiet: true,
  answers: { 200: SettleAnswer },
  async handle({ scheduler, params, body, signal }) {
    const workerId = pathId(params, 'worker_not_found');
    const answers: SettleResult[] = [];
    const settlements: Settlement[] = [];
    const places: SettleResult[] = [];
    for (const raw of body.items) {
      const item = SettleItem.safeParse(raw);
      if (item.success) {
        const { job_id: jobId, attempt, started_at: startedAt, outcome } = item.data;
        const settlement = { jobId, attempt, workerId, outcome: outcomeFromWire(outcome) };
        settlements.push(startedAt === undefined ? settlement : { ...settlement, startedAt });
        const place: SettleResult = { job_id: String(jobId), attempt, result: 'invalid' };
        places.push(place);
        answers.push(place);
      } else {
        answers.push({ ...namesIn(raw), result: 'invalid' });
      }
    }
    const results = settlements.length === 0 ? [] : await scheduler.settle(settlements, signal);
    for (const [index, result] of results.entries()) (places[index] as SettleResult).result = result;
    return { status: 200, json: { items: answers } };
  },
});

/** What a malformed item says of itself, as far as it can be read. */
function namesIn(raw: unknown): { job_id: string | null; attempt: number | null } {
  const { job_id, attempt } = (typeof raw === 'object' && raw !== null ? raw : {}) as Record<string, unknown>;
  return {
    job_id: typeof job_id === 'string' ? job_id.slice(0, 32) : null,
    attempt: typeof attempt === 'number' ? attempt : null,
  };
}
