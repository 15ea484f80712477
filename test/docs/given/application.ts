/** What the TypeScript blocks of the documents use of the application around them. Without side effects: threads load it too. */

import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { Store } from '../../../contract/index.ts';
import { openTestMemory } from '../../../contract/index.ts';
import { job, type Workron } from '../../../src/index.ts';

export { default as assert } from 'node:assert/strict';
export { open } from '../../../src/index.ts';
export { job, z };

export const url = process.env['DOCS_URL'] as string;
export const token = '';
export const secret = 'a secret that signs messages';
export const to = 'ada@example.org';
export const user = { email: to, isAdmin: true };
export const item = 'a book';

export const deliver = (address: string, _options?: { signal: AbortSignal }) => Promise.resolve(`<1.${address}>`);
export const shrink = (file: string) => Promise.resolve(file.length);
export const compute = (month: string) => `report of ${month}`;
export const trainTogether = (epochs: number, rank = 0, hosts: readonly string[] = []) => epochs + rank + hosts.length;
export const bill = () => 'billed';
export const resizePicture = ({ width }: { width: number }) => width;
export const welcome = (address: string) => `welcome, ${address}`;
export const tenant = () => 'acme';
export const runAs = (_tenant: string | undefined, next: () => unknown) => next();
export const userOf = (_request: unknown): Promise<typeof user | null> => Promise.resolve(user);
export const requireAdmin = (_request: unknown, _reply: unknown, next: () => void) => next();

export const sendMail = job('send-mail', { input: z.object({ to: z.email() }) });
export const sendReport = job('send-report', {
  input: z.object({ to: z.email() }),
  run: ({ to: address }) => deliver(address),
});
export const askForReview = job('ask-for-review', { run: (orderId: number) => `how was ${orderId}?` });
export const confirmOrder = job('confirm-order', { input: z.object({ orderId: z.number() }) });
export const confirm = confirmOrder.handle(async ({ orderId }, { submit }) => {
  await submit(askForReview, orderId, { delay: '1d' });
});
export const placeOrder = (workron: Workron, _order: { item: string }) => workron.submit(confirmOrder, { orderId: 1 });

export const emptyDatabase = () => 'redis://localhost';
export const openRedis = async (_place: string): Promise<Store> => (await openTestMemory()).store;
export const moveItsClock = (ms: number) => pause(ms);
export const dropIt = () => Promise.resolve();
