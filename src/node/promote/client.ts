import pg from 'pg';
import { connectionSettings } from '../../store/postgres/base/database.ts';
import { toStoreError } from '../../store/postgres/base/store-error.ts';

/** One connection whose statements may take long. */
export async function withClient<T>(url: string, body: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ ...connectionSettings, connectionString: url, query_timeout: 0 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(`set timezone = 'UTC'`);
    return await body(client);
  } catch (error) {
    throw error instanceof pg.DatabaseError ? toStoreError(error) : error;
  } finally {
    await client.end().catch(() => undefined);
  }
}
