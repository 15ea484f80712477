import { localSource } from '../../../src/node/local-source.ts';
import { openEmptiedPostgres } from '../../kit/postgres.ts';
import { exerciseSource } from './exercise-source.ts';
import { testScheduler } from './test-scheduler.ts';

exerciseSource('attached to PostgreSQL', async () => {
  const stack = new AsyncDisposableStack();
  const { store } = stack.use(await openEmptiedPostgres());
  const scheduler = stack.use(testScheduler(store));
  const source = localSource({ scheduler, attachment: 'direct', version: '0' });
  return { source, scheduler, [Symbol.asyncDispose]: () => stack.disposeAsync() };
});
