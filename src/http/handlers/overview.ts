/** The data of the dashboard's overview: statistics, recent failures, the cluster, and hints about changes. */

import { Cluster, clusterToWire } from '../../api/cluster.ts';
import { invalid } from '../../api/decode.ts';
import { Findings } from '../../api/doctor.ts';
import { Event, EventsQuery } from '../../api/event.ts';
import { Failures, FailuresQuery, groupFailures } from '../../api/failures.ts';
import { resolveInstant, toInstant } from '../../api/fields.ts';
import { routes } from '../../api/routes.ts';
import { scheduleDetailToWire } from '../../api/schedule-wire.ts';
import { Stats, StatsQuery, statsToWire } from '../../api/stats.ts';
import { ledgerToWire } from '../../api/tick.ts';
import { Timeline, TimelineQuery } from '../../api/timeline.ts';
import type { Job } from '../../core/job.ts';
import { sumStats } from '../../core/stats.ts';
import { releaseAfter } from '../concurrency-limit.ts';
import { handler } from '../handler.ts';
import { SSE_TYPE } from '../sse.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MAX_STATS_RANGE_MS = 31 * DAY_MS;

/** The number of schedules in a timeline. */
const MAX_TIMELINES = 200;

const FAILURES_PER_PAGE = 200;
/** Older failures are ignored: the newest show what is wrong now. */
const MAX_FAILURES = 1_000;
const MAX_FAILURE_GROUPS = 50;

export const overviewHandlers = {
  readCluster: handler(routes.readCluster, {
    summary: 'Read the instances on this store, and which of them performs which duty, in which term and by which lock',
    replies: { 200: Cluster },
    async handle({ scheduler, signal }) {
      const { instanceId, driver, location } = scheduler;
      const cluster = clusterToWire(await scheduler.cluster(signal));
      return { status: 200, json: { driver, location, answered_by: instanceId, ...cluster } };
    },
  }),

  readDoctor: handler(routes.readDoctor, {
    summary: 'Examine the machine that answers and the store: what is wrong, and what to do about it',
    replies: { 200: Findings },
    async handle({ examine }) {
      return { status: 200, json: { items: await examine() } };
    },
  }),

  readTimeline: handler(routes.readTimeline, {
    summary: 'Read the recent ticks of all schedules with their runs, and the ticks to come',
    query: TimelineQuery,
    replies: { 200: Timeline },
    async handle({ scheduler, query, now, signal }) {
      const at = now();
      const from = query.from === undefined ? at - DAY_MS : resolveInstant(query.from, at);
      const until = at + (query.ahead ?? 6 * HOUR_MS);
      const { items, nextAfter } = await scheduler.schedules({}, { after: null, limit: MAX_TIMELINES }, signal);
      const timelines = await scheduler.timeline(items, { from, until, each: query.each ?? 100 }, signal);
      const json = {
        from: toInstant(from),
        now: toInstant(at),
        until: toInstant(until),
        complete: nextAfter === null,
        schedules: timelines.map(({ schedule, ticks, next }) => ({
          schedule: scheduleDetailToWire(schedule),
          ticks: ticks.map(ledgerToWire),
          next: next.map(toInstant),
        })),
      };
      return { status: 200, json };
    },
  }),

  readStats: handler(routes.readStats, {
    summary:
      'Read how many jobs were submitted and how they ended, by minute, queue and outcome; by default of the last hour',
    query: StatsQuery,
    replies: { 200: Stats },
    async handle({ scheduler, query, now, signal }) {
      const to = query.to === undefined ? now() : resolveInstant(query.to, now());
      const from = query.from === undefined ? to - HOUR_MS : resolveInstant(query.from, now());
      if (from > to || to - from > MAX_STATS_RANGE_MS) {
        throw invalid([{ pointer: '/from', detail: 'expected from before to, at most 31 days apart' }]);
      }
      const { step = 60_000, by = 'queue' } = query;
      const rows = sumStats(await scheduler.stats({ from, to }, signal), { stepMs: step, queues: by === 'queue' });
      return { status: 200, json: statsToWire({ from, to }, rows) };
    },
  }),

  listFailures: handler(routes.listFailures, {
    summary: 'List failed jobs of the last day, grouped by title and error, the most frequent first',
    query: FailuresQuery,
    replies: { 200: Failures },
    async handle({ scheduler, query, now, signal }) {
      const from = query.from === undefined ? now() - DAY_MS : resolveInstant(query.from, now());
      const jobs: Job[] = [];
      let before: number | null = null;
      do {
        const filter = { statuses: ['failed' as const], createdFrom: from };
        const page = await scheduler.jobs(filter, { before, limit: FAILURES_PER_PAGE }, signal);
        jobs.push(...page.items);
        before = page.nextBefore;
      } while (before !== null && jobs.length < MAX_FAILURES);
      const items = groupFailures(jobs, { from, to: now() }).slice(0, MAX_FAILURE_GROUPS);
      return { status: 200, json: { from: toInstant(from), scanned: jobs.length, complete: before === null, items } };
    },
  }),

  streamEvents: handler(routes.streamEvents, {
    summary:
      'Stream hints that something changed, as server-sent events; after `reset` (a long gap, or a restart), fetch what you follow again, ended jobs too',
    long: true,
    query: EventsQuery,
    replies: { 200: { type: SSE_TYPE, schema: Event } },
    handle({ events, headers, query, streams, remoteAddress, signal }) {
      // A browser that reconnects sends the header, and repeats the query of its first request.
      const lastEventId = String(headers['last-event-id'] ?? query.after ?? '');
      return {
        status: 200,
        type: SSE_TYPE,
        chunks: releaseAfter(streams.take(remoteAddress), events.stream(lastEventId, signal)),
      };
    },
  }),
};
