/** A shop that takes orders and confirms them by mail: `DATABASE_URL=postgres://… node shop.ts`. */

import fastify from 'fastify';
import pg from 'pg';
import { open } from 'workron';
import { confirmOrder, confirmOrders } from './jobs.ts';

const url = process.env['DATABASE_URL'] ?? 'postgres://localhost/shop';
const pool = new pg.Pool({ connectionString: url });
// Without listeners, a connection that the database cuts would end the shop: an idle one, and one between two queries of an order.
pool.on('connect', (client) => client.on('error', () => undefined));
pool.on('error', (error) => console.error(`An idle connection broke: ${error.message}`));
await pool.query(`
  create table if not exists orders (id serial primary key, item text not null);
  create table if not exists mails (id serial primary key, order_id integer not null, text text not null)`);

const workron = await open(url, { schema: process.env['WORKRON_SCHEMA'] ?? 'workron', lease: '3s' });
await workron.start({ jobs: [confirmOrders(pool)], concurrency: 5 });

const app = fastify();

app.post<{ Body: { item: string } }>('/orders', async ({ body }, reply) => {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query('insert into orders (item) values ($1) returning id', [body.item]);
    const order: { id: number } = rows[0];
    const confirmation = await workron.submit(confirmOrder, { orderId: order.id }, { tx: client });
    await client.query('commit');
    return reply.code(201).send({ order: order.id, job: confirmation.id });
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
});

const address = await app.listen({ port: Number(process.env['PORT'] ?? 3000) });
console.log(`The shop is open at ${address}`);

process.once('SIGTERM', async () => {
  await app.close();
  await workron.stop();
  await pool.end();
});
