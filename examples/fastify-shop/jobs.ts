import type pg from 'pg';
import { job } from 'workron';
import { z } from 'zod';

/** The web process submits this job. Any process that starts it with its function runs it. */
export const confirmOrder = job('confirm-order', {
  input: z.object({ orderId: z.number() }),
  maxAttempts: 100,
  backoff: { type: 'fixed', base: '1s' },
});

/** One transaction writes the mail and completes the job, so an order gets exactly one mail even if a process dies. */
export function confirmOrders(pool: pg.Pool) {
  return confirmOrder.handle(async ({ orderId }, { complete, log }) => {
    const client = await pool.connect();
    try {
      await client.query('begin');
      const { rows } = await client.query('select item from orders where id = $1', [orderId]);
      const text = `Thank you for ordering ${rows[0].item}`;
      await client.query('insert into mails (order_id, text) values ($1, $2)', [orderId, text]);
      await complete(client);
      await client.query('commit');
      log(`confirmed order ${orderId}`);
    } catch (error) {
      await client.query('rollback').catch(() => undefined);
      throw error;
    } finally {
      client.release();
    }
    return null;
  });
}
