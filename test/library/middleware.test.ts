/** What applications put around submissions and runs, and spans. */

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { SpanKind, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { job, type Middleware, open } from '../../src/index.ts';
import { tracing } from '../../src/library/tracing.ts';
import { openTestKit } from '../../src/testing.ts';
import { openTestServer } from '../kit/http.ts';

test('middleware: goes around submissions and runs, the first outermost, and can carry a context', async () => {
  const tenant = new AsyncLocalStorage<string>();
  const seen: string[] = [];
  const tell = (name: string): Middleware => ({
    async submit(call, next) {
      seen.push(`${name} submits ${call.job} ${call.inputs.length}`);
      const handles = await next();
      seen.push(`${name} submitted ${handles.length}`);
      return handles;
    },
    async run(call, next) {
      seen.push(`${name} runs ${call.job} ${JSON.stringify(call.input)}`);
      return next();
    },
  });
  const carry: Middleware = {
    submit(call, next) {
      call.options = { ...call.options, env: { TENANT: tenant.getStore() ?? '' } };
      return next();
    },
    run: ({ context }, next) => tenant.run(context.env['TENANT'] ?? '', () => next()),
  };
  await using workron = await open('memory:', {
    log: 'silent',
    tracing: false,
    middleware: [tell('a'), tell('b'), carry],
  });
  const who = job('who', { run: (n: number) => (n > 0 ? tenant.getStore() : null) });
  await workron.start({ jobs: [who] });
  const [one] = await tenant.run('acme', () => workron.submitAll(who, [1, 2]));
  assert.equal(await one?.result(), 'acme');
  const [submissions, runs] = [seen.filter((line) => /submit/.test(line)), seen.filter((line) => /runs/.test(line))];
  assert.deepEqual(submissions, ['a submits who 2', 'b submits who 2', 'b submitted 2', 'a submitted 2']);
  assert.deepEqual(runs.slice(0, 2), ['a runs who 1', 'b runs who 1']);
});

test('middleware: what it throws is the failure of the submission or the job', async () => {
  const strict: Middleware = {
    submit: (call, next) => (call.job === 'bad' ? Promise.reject(new Error('not allowed')) : next()),
    run() {
      throw new Error('no');
    },
  };
  await using workron = await open('memory:', { log: 'silent', middleware: [strict] });
  const good = job('good', { run: () => 1, maxAttempts: 1 });
  await workron.start({ jobs: [good] });
  await assert.rejects(workron.submit(job('bad', { run: () => 1 })), /not allowed/);
  await assert.rejects((await workron.submit(good)).result(), /no/);
});

test('tracing: a run is a child of its submission, wherever it runs', async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  provider.register();
  await using workron = await open('memory:', { log: 'silent' });
  const child = job('child', { run: () => 1 });
  const parent = job('parent', { queue: 'q', run: async (_: unknown, { submit }) => (await submit(child)).result() });
  const broken = job('broken', {
    maxAttempts: 1,
    run: () => {
      throw new Error('no');
    },
  });
  await workron.start({ jobs: [parent, child, broken] });
  await trace.getTracer('test').startActiveSpan('request', async (span) => {
    await (await workron.submit(parent, null, { queue: 'q' })).result();
    span.end();
  });
  await (await workron.submit(broken)).ended();
  const spans = exporter.getFinishedSpans();
  const named = (name: string, jobName: string) => {
    const found = spans.find((span) => span.name === name && span.attributes['workron.job'] === jobName);
    assert.ok(found, `${name} ${jobName}`);
    return found;
  };
  const [submitted, ran] = [named('submit q', 'parent'), named('run q', 'parent')];
  assert.equal(ran.parentSpanContext?.spanId, submitted.spanContext().spanId);
  assert.equal(named('submit default', 'child').parentSpanContext?.spanId, ran.spanContext().spanId);
  const { traceId } = submitted.spanContext();
  assert.equal(named('run default', 'child').spanContext().traceId, traceId);
  assert.deepEqual([submitted.kind, ran.kind], [SpanKind.PRODUCER, SpanKind.CONSUMER]);
  assert.equal(ran.attributes['messaging.system'], 'workron');
  assert.equal(ran.attributes['messaging.message.id'], submitted.attributes['messaging.message.id']);
  assert.equal(named('run default', 'broken').events[0]?.name, 'exception');
  await provider.shutdown();
});

test('tracing: the span of a run that is suspended ends with it, and the next run has another', async () => {
  const exporter = new InMemorySpanExporter();
  trace.disable(); // the provider of the test above
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
  const nap = job('nap', { run: (_: null, { sleep }) => sleep('long', '1d') });
  await using kit = await openTestKit({ jobs: [nap], middleware: [(await tracing('0')) as Middleware] });
  await kit.workron.submit(nap, null);
  await kit.runAll();
  await kit.advance('1d');
  await kit.runAll();
  const runs = exporter.getFinishedSpans().filter(({ name }) => name === 'run default');
  assert.deepEqual(
    runs.map(({ attributes }) => [attributes['workron.attempt'], attributes['workron.suspended'] ?? false]),
    [
      [1, true],
      [2, false],
    ],
  );
});

test('tracing: the span of a submission names the queue that the job goes to', async () => {
  const exporter = new InMemorySpanExporter();
  trace.disable(); // the provider of the test above
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
  const reroutes: Middleware = {
    submit: (call, next) => {
      assert.equal(call.queue, call.job === 'plain' ? 'default' : 'payments');
      if (call.inputs[0] === 'rerouted') call.options = { ...call.options, queue: 'elsewhere' };
      return next();
    },
  };
  await using workron = await open('memory:', { log: 'silent', middleware: [reroutes] });
  const charge = job('charge', { queue: 'payments', run: (how: string) => how });
  const handles = [
    await workron.submit(charge, 'by the job'),
    await workron.submit(charge, 'by the submission', { queue: 'urgent' }),
    await workron.submit(charge, 'rerouted'),
    await workron.submit(job('plain', { run: () => 1 })),
  ];
  const spans = exporter.getFinishedSpans();
  const queues = ['payments', 'urgent', 'elsewhere', 'default'];
  assert.deepEqual(await Promise.all(handles.map(async (handle) => (await handle.job()).queue)), queues);
  assert.deepEqual(
    spans.map(({ name, attributes }) => [name, attributes['messaging.destination.name']]),
    queues.map((queue) => [`submit ${queue}`, queue]),
  );
});

test('tracing: the span of a failed run does not show the secrets of its job', async () => {
  const exporter = new InMemorySpanExporter();
  trace.disable(); // the provider of the test above
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
  await using server = await openTestServer();
  await server.call('PUT', '/secrets/db-password', { value: 'a-long-password' });
  await using workron = await open(server.url, { log: 'silent' });
  const leaks = job('leaks', {
    maxAttempts: 1,
    run(how: string, { env }) {
      const text = `cannot log in with ${env['PASSWORD']}`;
      if (how === 'text') throw text;
      const error = new Error(text, { cause: new Error(text) });
      throw how === 'error' ? error : Object.assign(error, { name: text, code: text });
    },
  });
  await workron.start({ jobs: [leaks] });
  for (const how of ['error', 'fields', 'text']) {
    await (await workron.submit(leaks, how, { env: { PASSWORD: { secret: 'db-password' } } })).ended();
  }
  const runs = exporter.getFinishedSpans().filter(({ name }) => name === 'run default');
  const messages = runs.map(({ events }) => events[0]?.attributes?.['exception.message']);
  assert.deepEqual(messages, Array(3).fill('cannot log in with ***'));
  assert.doesNotMatch(JSON.stringify(runs.map(({ events, attributes }) => [events, attributes])), /a-long-password/);
  assert.match(String(runs[0]?.events[0]?.attributes?.['exception.stacktrace']), /middleware\.test\.ts/);
});
