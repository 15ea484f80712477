import { open } from '../../src/index.ts';
import { openEmptiedPostgres } from '../kit/postgres.ts';
import { exerciseLibrary } from './exercise-library.ts';

exerciseLibrary('postgres', async () => {
  const place = await openEmptiedPostgres();
  const [workron, other] = await Promise.all([
    open(place.url, { schema: place.schema, log: 'silent' }),
    open(place.url, { schema: place.schema, log: 'silent', migrate: false }),
  ]);
  return {
    workron,
    other,
    async [Symbol.asyncDispose]() {
      await Promise.all([workron.stop(), other.stop()]);
      await place[Symbol.asyncDispose]();
    },
  };
});
