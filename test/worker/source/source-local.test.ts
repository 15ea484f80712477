import { localSource } from '../../../src/node/local-source.ts';
import { exerciseSource } from './exercise-source.ts';
import { testScheduler } from './test-scheduler.ts';

exerciseSource('in process', async () => {
  const stack = new AsyncDisposableStack();
  const scheduler = stack.use(testScheduler());
  const source = localSource({ scheduler, attachment: 'local', version: '0' });
  return { source, scheduler, [Symbol.asyncDispose]: () => stack.disposeAsync() };
});
