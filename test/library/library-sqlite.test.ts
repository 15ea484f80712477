import { join } from 'node:path';
import { open } from '../../src/index.ts';
import { aFolder } from '../kit/sqlite.ts';
import { exerciseLibrary } from './exercise-library.ts';

exerciseLibrary('sqlite', async () => {
  const folder = await aFolder();
  const workron = await open(join(folder.path, 'workron.db'), { log: 'silent' });
  return {
    workron,
    async [Symbol.asyncDispose]() {
      await workron.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
});
