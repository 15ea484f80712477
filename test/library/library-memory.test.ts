import { open } from '../../src/index.ts';
import { exerciseLibrary } from './exercise-library.ts';

exerciseLibrary('memory', async () => {
  const workron = await open('memory:', { log: 'silent' });
  return { workron, [Symbol.asyncDispose]: () => workron.stop() };
});
