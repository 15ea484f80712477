import { invalid } from '../../api/decode.ts';
import { Stats, StatsQuery } from '../../api/stats.ts';
import { defineRoute } from '../route.ts';
import { resolveInstant, statsToWire } from '../../api/state-wire.ts';
import { sumStats } from '../sum-stats.ts';

const HOUR_MS = 3_600_000;
const MAX_RANGE_MS = 31 * 24 * HOUR_MS;

export const readStats = defineRoute({
  method: 'GET',
  path: '/stats',
  scope: 'read',
  summary: 'What was submitted and how it ended, by minute, queue and outcome; the last hour unless told otherwise',
  query: StatsQuery,
  answers: { 200: Stats },
  async handle({ scheduler, query, now, signal }) {
    const to = query.to === undefined ? now() : resolveInstant(query.to, now());
    const from = query.from === undefined ? to - HOUR_MS : resolveInstant(query.from, now());
    if (from > to || to - from > MAX_RANGE_MS) {
      throw invalid([{ pointer: '/from', detail: 'expected from before to, at most 31 days apart' }]);
    }
    const { step = 60_000, by = 'queue' } = query;
    const rows = sumStats(await scheduler.stats({ from, to }, signal), { stepMs: step, queues: by === 'queue' });
    return { status: 200, json: statsToWire({ from, to }, rows) };
  },
});
