/** Attacks on secrets in results: in every form that JSON has, while the secret is there and after it was deleted. */

import assert from 'node:assert/strict';
import { type Attack, asAdmin as admin, type Target } from './attack.ts';

const SECRET = '40125598317';
const RESULT = { text: `pin ${SECRET}`, [SECRET]: 1, number: Number(SECRET), list: [[Number(`-${SECRET}`)]] };

export async function resultAttacks(server: Target): Promise<Attack[]> {
  const call = async (method: string, path: string, body?: object) => {
    const { status, body: answer } = await server.call(method, path, body, admin);
    assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const queue = 'results';
  const { worker_id } = await call('POST', '/workers/register', { name: 'results', queues: [queue] });
  /** The id of a job that has returned its secret. */
  const doneWith = async (secret: string): Promise<string> => {
    await call('PUT', `/secrets/${secret}`, { value: SECRET });
    const { id } = await call('POST', '/jobs', { command: 'true', queue, env: { PIN: { secret } } });
    await call('POST', '/jobs/claim', { worker_id, queues: [queue] });
    await call('POST', `/jobs/${id}/done`, { worker_id, attempt: 1, result: RESULT });
    return id as string;
  };
  const [kept, orphaned] = [await doneWith('kept'), await doneWith('deleted')];
  await call('DELETE', '/secrets/deleted');
  const reads = (id: string): [string, string][] => [
    ['GET', `/jobs/${id}`],
    ['GET', `/jobs/${id}/wait`],
    ['GET', `/jobs?ids=${id}`],
    ['GET', `/jobs/${id}/history`],
    ['GET', `/jobs/${id}/attempts`],
    ['DELETE', `/jobs/${id}`],
  ];
  return [...reads(kept), ...reads(orphaned)].map(([method, path]) => ({
    group: 'secrets in results',
    name: `${method} ${path}${path.includes(orphaned) ? ', whose secret is deleted' : ''}`,
    async attempt() {
      const { status, body } = await server.call(method, path, undefined, admin);
      if (status !== 200) return `answered ${status}`;
      return JSON.stringify(body).includes(SECRET) ? 'shows the secret' : null;
    },
  }));
}
