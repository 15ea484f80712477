import type { Settled, Success } from '../store.ts';
import type { Context } from './context.ts';
import { numbers, texts } from './values.ts';

/** Columns of equal length; `null` where nothing was ended. */
interface EndedRow {
  now: number;
  ids: number[] | null;
  attempts: number[];
  workers: number[];
  lanes: number[];
  dues: number[];
  starts: number[];
}

interface EarlierRow {
  job_id: number;
  attempt: number;
  worker_id: number;
  queue: string;
  due: number;
  started_at: number;
  ended_at: number;
}

export async function settle(context: Context, successes: readonly Success[], signal: AbortSignal): Promise<Settled[]> {
  const fresh = await end(context, firstOfEach(successes), signal);
  const answers = successes.map((success): Settled | undefined => {
    const answer = fresh.get(fenceOf(success));
    // The same report twice in one call: the second repeats the first.
    fresh.delete(fenceOf(success));
    return answer;
  });
  const open = successes.filter((_, index) => answers[index] === undefined);
  const earlier = open.length === 0 ? new Map<string, Settled>() : await endedBefore(context, open, signal);
  return answers.map(
    (answer, index) => answer ?? earlier.get(fenceOf(successes[index] as Success)) ?? { result: 'lease_lost' },
  );
}

function fenceOf({ jobId, attempt, workerId }: Pick<Success, 'jobId' | 'attempt' | 'workerId'>): string {
  return `${jobId} ${attempt} ${workerId}`;
}

/** By id, as all who lock several jobs do. */
function firstOfEach(successes: readonly Success[]): Success[] {
  const first = new Map<string, Success>();
  for (const success of successes) {
    const fence = fenceOf(success);
    if (!first.has(fence)) first.set(fence, success);
  }
  return [...first.values()].sort((a, b) => a.jobId - b.jobId);
}

async function end(
  { database, sql, lanes, hints }: Context,
  successes: readonly Success[],
  signal: AbortSignal,
): Promise<Map<string, Settled>> {
  const [row] = await database.query<EndedRow>(
    sql.settle,
    [
      numbers(successes.map(({ jobId }) => jobId)),
      numbers(successes.map(({ attempt }) => attempt)),
      numbers(successes.map(({ workerId }) => workerId)),
      numbers(successes.map(({ exitCode }) => exitCode)),
      texts(successes.map(({ result }) => (result == null ? null : JSON.stringify(result)))),
    ],
    signal,
  );
  if (row === undefined || row.ids === null) return new Map();
  // An end makes room only where the number of running jobs is limited.
  hints.tell({ work: lanes.anyLimited, jobs: row.ids });
  if (row.lanes.some((lane) => lanes.lane(lane) === undefined)) await lanes.refresh(signal);
  return new Map(
    row.ids.map((jobId, place) => [
      fenceOf({ jobId, attempt: row.attempts[place] as number, workerId: row.workers[place] as number }),
      {
        result: 'ok',
        fresh: true,
        queue: lanes.lane(row.lanes[place] as number)?.queue ?? '',
        dueAt: row.dues[place] as number,
        startedAt: row.starts[place] as number,
        endedAt: row.now,
      },
    ]),
  );
}

/** Those that were ended `done` by this very attempt before. */
async function endedBefore(
  { database, sql }: Context,
  successes: readonly Success[],
  signal: AbortSignal,
): Promise<Map<string, Settled>> {
  const ids = numbers([...new Set(successes.map(({ jobId }) => jobId))]);
  const rows = await database.query<EarlierRow>(sql.settledBefore, [ids], signal);
  return new Map(
    rows.map((row) => [
      fenceOf({ jobId: row.job_id, attempt: row.attempt, workerId: row.worker_id }),
      {
        result: 'ok',
        fresh: false,
        queue: row.queue,
        dueAt: row.due,
        startedAt: row.started_at,
        endedAt: row.ended_at,
      },
    ]),
  );
}
