/** What the compiler checks about handlers: each `@ts-expect-error` below is a mistake that must not compile. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { HttpClient } from '../../src/api/http-client.ts';
import type { Queue } from '../../src/api/queue.ts';
import { pathOf, route } from '../../src/api/route.ts';
import { type RouteName, routes } from '../../src/api/routes.ts';
import { Session } from '../../src/api/session.ts';
import { Worker } from '../../src/api/worker.ts';
import { handler, Serialized } from '../../src/http/handler.ts';
import { HANDLERS } from '../../src/http/handlers.ts';

const session = { name: 'a', token_needed: false, scopes: [], queues: null };

test('a reply must be of the type of its status', () => {
  const options = { summary: 'x', replies: { 200: Session } };
  handler(routes.readSession, { ...options, handle: () => ({ status: 200, json: session }) });
  handler(routes.readSession, { ...options, handle: async () => ({ status: 200, json: session }) });
  // @ts-expect-error a field is missing
  handler(routes.readSession, { ...options, handle: () => ({ status: 200, json: { name: 'a' } }) });
  // @ts-expect-error a field has the wrong type
  handler(routes.readSession, { ...options, handle: () => ({ status: 200, json: { ...session, name: 7 } }) });
  // @ts-expect-error the status is not declared
  handler(routes.readSession, { ...options, handle: () => ({ status: 201, json: session }) });
  // @ts-expect-error text where JSON is declared
  handler(routes.readSession, { ...options, handle: () => ({ status: 200, type: 'text/plain', text: 'a' }) });
  // @ts-expect-error serialized JSON of another type
  handler(routes.readSession, { ...options, handle: () => ({ status: 200, json: new Serialized<Queue>('{}') }) });
  // @ts-expect-error a promise of the wrong type
  handler(routes.readSession, { ...options, handle: async () => ({ status: 200, json: {} }) });
});

test('two statuses may have two types', () => {
  const either = route('GET /either', 'read').of<{ reply: Session | { queued: number } }>();
  const options = { summary: 'x', replies: { 200: Session, 202: z.object({ queued: z.number() }) } };
  handler(either, { ...options, handle: () => ({ status: 202, json: { queued: 1 } }) });
  // @ts-expect-error the reply of the other status
  handler(either, { ...options, handle: () => ({ status: 200, json: { queued: 1 } }) });
});

test('schemas must fit the entry in the table', () => {
  const handle = () => ({ status: 200 as const, json: session });
  // @ts-expect-error a reply of another type
  handler(routes.readSession, { summary: 'x', replies: { 200: Worker }, handle: () => ({ status: 200, json: {} }) });
  // @ts-expect-error a body that the table does not have
  handler(routes.readSession, { summary: 'x', body: Session, replies: { 200: Session }, handle });
  // @ts-expect-error a query that the table does not have
  handler(routes.readSession, { summary: 'x', query: Session, replies: { 200: Session }, handle });
});

test('a call must fit the route', () => {
  const client = new HttpClient({ url: 'http://x', token: null, transport: () => Promise.reject(new Error('no')) });
  const calls = [
    // @ts-expect-error the id is missing
    () => client.json(routes.readJob, {}),
    // @ts-expect-error a field of the wrong type
    () => client.json(routes.editJob, { params: { id: '1' }, body: { priority: 'high' } }),
    // @ts-expect-error a query field that does not exist
    () => client.json(routes.listJobs, { query: { colour: 'red' } }),
    // @ts-expect-error a field that the reply does not have
    async () => (await client.json(routes.readSession, {})).colour,
  ];
  assert.equal(calls.length, 4);
});

test('each route has its own handler, method and path', () => {
  const names = Object.keys(routes) as RouteName[];
  assert.deepEqual(
    HANDLERS.map((each) => each.route),
    names.map((name) => routes[name]),
  );
  const addresses = names.map((name) => `${routes[name].method} ${routes[name].path}`);
  assert.deepEqual(addresses, [...new Set(addresses)]);
});

test('parameters are escaped in a path', () => {
  assert.equal(pathOf(routes.editQueue, { name: 'a/b c' }), '/queues/a%2Fb%20c');
  assert.equal(pathOf(routes.readLogs, { id: 7 }), '/jobs/7/logs');
});
