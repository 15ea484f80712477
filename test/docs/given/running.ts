/** What runs in the application that the blocks of the documents are parts of: its Workron, its database connection, its servers. */

import express from 'express';
import createFastify from 'fastify';
import pg from 'pg';
import { type Handle, open, type StartOptions } from '../../../src/index.ts';
import { url } from './application.ts';

const submitted: Handle[] = [];
let started = false;

export const workron = await open(url, {
  log: 'silent',
  middleware: [
    {
      async submit(_call, next) {
        const handles = await next();
        submitted.push(...handles);
        return handles;
      },
    },
  ],
});
const start = workron.start.bind(workron);
workron.start = (options: StartOptions) => {
  started = true;
  return start(options);
};

/** If the block has started a worker, waits until all jobs that it has submitted are done. */
export async function settled(): Promise<void> {
  for (const handle of started ? submitted : []) await handle.result({ timeout: '60s' });
}

export const client = new pg.Client({ connectionString: url });
await client.connect();

export const app = express();
export const fastify = createFastify();
