import { open } from '../../src/index.ts';
import { openTestServer } from '../kit/http.ts';
import { exerciseLibrary } from './exercise-library.ts';

exerciseLibrary('http', async () => {
  const server = await openTestServer();
  const [workron, other] = [await open(server.url, { log: 'silent' }), await open(server.url, { log: 'silent' })];
  return {
    workron,
    other,
    async [Symbol.asyncDispose]() {
      await Promise.all([workron.stop(), other.stop()]);
      await server[Symbol.asyncDispose]();
    },
  };
});
