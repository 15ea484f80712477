/** The time that a duty has no leader after its leader was killed or frozen, with two scheduler processes. */

import type { Cluster } from '../src/api/cluster.ts';
import { eventually } from '../test/kit/eventually.ts';
import { startPostgres } from '../test/kit/postgres.ts';
import { api, startWorkron } from '../test/kit/workron-process.ts';
import type { Figure } from './measure.ts';

const POLL_MS = 20;

export async function measureTakeover(rounds: number): Promise<Figure[]> {
  await using postgres = await startPostgres({ durable: true });
  const args = ['scheduler', '--port', '0', '--db-url', postgres.url];
  const died: Figure = { what: 'takeover after kill -9', store: 'postgres', unit: 'ms', values: [] };
  const frozen: Figure = { what: 'takeover after SIGSTOP', store: 'postgres', unit: 'ms', values: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const [figure, signal] of [
      [died, 'SIGKILL'],
      [frozen, 'SIGSTOP'],
    ] as const) {
      await using one = await startWorkron({ args });
      await using two = await startWorkron({ args });
      const ticker = async () => {
        const { duties, instances } = await api<Cluster>(two.url, '/cluster');
        const duty = duties.find((state) => state.duty === 'ticker');
        return { ...duty, pid: instances.find(({ id }) => id === duty?.leader)?.pid };
      };
      await eventually(async () => (await ticker()).pid === one.pid && (await ticker()).held_by === 'lock', {
        everyMs: POLL_MS,
      });
      const from = performance.now();
      one.signal(signal);
      await eventually(async () => (await ticker()).pid === two.pid, { everyMs: POLL_MS });
      figure.values.push(performance.now() - from);
    }
  }
  return [died, frozen];
}
