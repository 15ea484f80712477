import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Job, JobDetail, SubmittedJob } from '../../src/api/job.ts';
import { searchedBackTo } from '../../src/http/text-window.ts';
import { claimOverHttp, openTestServer } from '../kit/http.ts';

test('submit: a working directory has no characters that a terminal obeys, as all names', async () => {
  await using server = await openTestServer();
  for (const cwd of ['/tmp/\u001b]52;c;cm0=\u0007', '/tmp/a\nb', '/tmp/\u009b2J', '/tmp/\u202eexe']) {
    const { status, body } = await server.call('POST', '/jobs', { command: 'true', cwd });
    assert.deepEqual([status, body.errors[0].pointer], [400, '/cwd'], JSON.stringify(cwd));
  }
  assert.equal((await server.call('POST', '/jobs', { command: 'true', cwd: '/tmp/mit Leerzeichen/ü' })).status, 201);
});

test('POST /jobs: 201, the job and its address', async () => {
  await using server = await openTestServer();
  const { status, headers, body } = await server.call('POST', '/jobs', { command: 'echo hi', tags: ['a', 'a', 'b'] });
  assert.equal(status, 201);
  assert.equal(headers.get('location'), `/jobs/${body.id}`);
  assert.deepEqual(SubmittedJob.parse(body), body);
  assert.deepEqual([body.status, body.queue, body.priority, body.tags], ['pending', 'default', 0, ['a', 'b']]);
  assert.deepEqual(
    [body.max_attempts, body.max_retries, body.timeout, body.kill_grace],
    [3, undefined, 300_000, 10_000],
  );
  assert.deepEqual(body.backoff, { type: 'exponential', base: 5_000, factor: 2, cap: 3_600_000, jitter: 0.2 });
  assert.equal(body.deduplicated, false);
});

test('POST /jobs: a gang is answered with its members, alone and in an array', async () => {
  await using server = await openTestServer();
  const gang = { size: 3, on_member_failure: 'continue', timeout: '5m' };
  const { status, body } = await server.call('POST', '/jobs', { command: 'echo hi', tags: ['a'], gang });
  assert.equal(status, 201);
  const [first] = body.items;
  const { id } = first.gang;
  const rules = { size: 3, min: 3, spread: 'pack', on_member_failure: 'continue', timeout: 300_000 };
  for (const [rank, job] of body.items.entries()) {
    assert.deepEqual([job.gang, job.tags, job.max_attempts], [{ id, rank, ...rules }, ['a', `gang:${id}`], 1]);
  }
  assert.equal(body.items.length, 3);
  const large = { command: 'a', gang: { size: 3, fail_fast: true } };
  const refused = await server.call('POST', '/jobs', large);
  assert.deepEqual([refused.status, refused.body.errors[0].pointer], [400, '/gang']);
  assert.match(refused.body.errors[0].detail, /no places for a gang of 3/);
  const inArray = await server.call('POST', '/jobs', [{ command: 'b' }, large]);
  assert.deepEqual([inArray.status, inArray.body.errors[0].pointer], [400, '/1/gang']);
  await server.call('POST', '/workers/register', { name: 'w', slots: 3 });
  assert.equal((await server.call('POST', '/jobs', large)).status, 201);
  const elastic = await server.call('POST', '/jobs', { command: 'a', gang: { size: 9, min: 3, fail_fast: true } });
  assert.deepEqual([elastic.status, elastic.body.items[8].gang.min], [201, 3]);
  const many = await server.call('POST', '/jobs', [{ command: 'a' }, { command: 'b', gang: { size: 2 } }]);
  assert.deepEqual(
    many.body.items.map((job: { command: string; gang: { rank: number } | null }) => [job.command, job.gang?.rank]),
    [
      ['a', undefined],
      ['b', 0],
      ['b', 1],
    ],
  );
});

test('every writable field is read back; env values are not', async () => {
  await using server = await openTestServer();
  const { status, body } = await server.call('POST', '/jobs', {
    handler: 'mail',
    input: { to: 'ü', n: [1, null] },
    name: 'n',
    queue: 'q',
    priority: -32_768,
    delay: '1h30m',
    max_retries: 0,
    backoff: { type: 'fixed', base: '2s' },
    retry_on: [75],
    no_retry_on: [2],
    timeout: '90s',
    start_timeout: '7d',
    kill_grace: 0,
    rerun: 'never',
    on_disconnect: 'finish',
    env: { SECRET: 'hunter2' },
    cwd: '/tmp',
    tags: ['t'],
    requires: ['gpu'],
    resources: { memory_mb: 512 },
    fair_key: 'tenant',
    limits: [{ key: 'customer:42', max: 3 }],
    rates: [{ key: 'api', limit: 10, per: '1s', burst: 2 }],
    on_limit: 'skip',
    unique: { key: 'k', while: '1h', on_conflict: 'reject' },
  });
  assert.equal(status, 201);
  const { body: read } = await server.call('GET', `/jobs/${body.id}`);
  assert.deepEqual(JobDetail.parse(read), read);
  assert.deepEqual(
    [read.handler, read.input, read.command, read.name, read.queue, read.priority, read.status],
    ['mail', { to: 'ü', n: [1, null] }, null, 'n', 'q', -32_768, 'scheduled'],
  );
  assert.equal(Date.parse(read.run_at) - Date.parse(read.created_at), 5_400_000);
  assert.deepEqual([read.max_attempts, read.max_retries], [1, undefined]);
  assert.deepEqual(read.backoff, { type: 'fixed', base: 2_000, factor: 2, cap: 3_600_000, jitter: 0.2 });
  assert.deepEqual([read.retry_on, read.no_retry_on], [[75], [2]]);
  assert.deepEqual([read.timeout, read.start_timeout, read.kill_grace], [90_000, 604_800_000, 0]);
  assert.deepEqual([read.rerun, read.on_disconnect, read.cwd, read.fair_key], ['never', 'finish', '/tmp', 'tenant']);
  assert.deepEqual([read.limits, read.on_limit], [[{ key: 'customer:42', max: 3 }], 'skip']);
  assert.deepEqual(read.rates, [{ key: 'api', limit: 10, per: 1_000, burst: 2 }]);
  assert.deepEqual([read.env, read.requires, read.resources], [['SECRET'], ['gpu'], { memory_mb: 512 }]);
  assert.deepEqual([read.depends_on, read.progress], [[], null]);
  assert.equal(typeof read.waiting.code, 'string');
  assert.ok(!JSON.stringify(read).includes('hunter2'));
  const taken = await server.call('POST', '/jobs', { command: 'x', unique: { key: 'k', on_conflict: 'reject' } });
  assert.deepEqual([taken.status, taken.body.code], [409, 'unique_conflict']);
  const existing = await server.call('POST', '/jobs', { command: 'x', unique: { key: 'k' } });
  assert.deepEqual([existing.body.id, existing.body.deduplicated], [body.id, true]);
});

const keys = (count: number) => Array.from({ length: count }, (_, n) => ({ key: `k${n}`, max: 1 }));

const BAD: [string, unknown, string, RegExp][] = [
  ['nothing', '', '', /expected a JSON body/],
  ['no command', {}, '', /exactly one of command and handler/],
  ['both', { command: 'a', handler: 'b' }, '', /exactly one/],
  ['an empty command', { command: '' }, '/command', /empty/],
  ['a blank command', { command: ' \t\n' }, '/command', /blank/],
  ['a number for a command', { command: 7 }, '/command', /string/],
  ['an unknown field', { command: 'a', comand: 'b' }, '/comand', /did you mean command/],
  ['a nested unknown field', { command: 'a', backoff: { bsae: 1 } }, '/backoff/bsae', /did you mean base/],
  ['NUL', { command: 'a\0b' }, '/command', /NUL/],
  ['a lone surrogate', '{"command":"a","name":"\\ud800"}', '/name', /surrogate/],
  ['NUL deep in the input', { handler: 'h', input: { a: [{ b: '\0' }] } }, '/input/a/0/b', /NUL/],
  ['NUL in a field name', '{"handler":"h","input":{"\\u0000":1}}', '/input', /not allowed/],
  ['__proto__', '{"command":"a","env":{"__proto__":"x"}}', '/env', /not allowed/],
  ['bottomless nesting', `{"handler":"h","input":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, '/input', /deeper/],
  ['priority too high', { command: 'a', priority: 32_768 }, '/priority', /-32768 to 32767/],
  ['priority not whole', { command: 'a', priority: 1.5 }, '/priority', /whole/],
  ['a long queue', { command: 'a', queue: 'q'.repeat(129) }, '/queue', /128/],
  ['a queue with a newline', { command: 'a', queue: 'a\nb' }, '/queue', /control/],
  ['a long name', { command: 'a', name: 'n'.repeat(257) }, '/name', /256/],
  ['an empty tag', { command: 'a', tags: [''] }, '/tags/0', /empty/],
  ['both delays', { command: 'a', delay: 1, run_at: '2030-01-01T00:00:00Z' }, '/delay', /not both/],
  ['both budgets', { command: 'a', max_attempts: 1, max_retries: 1 }, '/max_retries', /not both/],
  ['no attempts', { command: 'a', max_attempts: 0 }, '/max_attempts', /from 1/],
  ['a bad duration', { command: 'a', timeout: '5 minutes' }, '/timeout', /duration/],
  ['a negative duration', { command: 'a', timeout: -1 }, '/timeout', /duration/],
  ['no time at all', { command: 'a', timeout: 0 }, '/timeout', /at least 1 ms/],
  ['an instant without offset', { command: 'a', run_at: '2030-01-01T00:00:00' }, '/run_at', /instant/],
  ['a day that is not', { command: 'a', run_at: '2030-02-31T00:00:00Z' }, '/run_at', /instant/],
  ['a limit of 0', { command: 'a', limits: [{ key: 'k', max: 0 }] }, '/limits/0/max', /from 1/],
  ['a limit without a key', { command: 'a', limits: [{ max: 1 }] }, '/limits/0/key', /./],
  ['a key of 257 bytes', { command: 'a', limits: [{ key: 'ü'.repeat(129), max: 1 }] }, '/limits/0/key', /256 bytes/],
  [
    'a doubled key',
    {
      command: 'a',
      limits: [
        { key: 'k', max: 1 },
        { key: 'k', max: 2 },
      ],
    },
    '/limits',
    /once/,
  ],
  ['a rate of 0', { command: 'a', rates: [{ key: 'k', limit: 0, per: '1s' }] }, '/rates/0/limit', /from 1/],
  ['a rate without a time', { command: 'a', rates: [{ key: 'k', limit: 1 }] }, '/rates/0/per', /./],
  ['a rate per nothing', { command: 'a', rates: [{ key: 'k', limit: 1, per: 0 }] }, '/rates/0/per', /duration/],
  ['a rate per month', { command: 'a', rates: [{ key: 'k', limit: 1, per: '31d' }] }, '/rates/0/per', /./],
  ['a huge rate', { command: 'a', rates: [{ key: 'k', limit: 100_001, per: '1s' }] }, '/rates/0/limit', /100,?000/],
  ['a huge burst', { command: 'a', rates: [{ key: 'k', limit: 1, per: '1s', burst: 1e6 }] }, '/rates/0/burst', /./],
  ['an unknown on_limit', { command: 'a', on_limit: 'drop' }, '/on_limit', /queue/],
  ['too many keys', { command: 'a', limits: keys(17) }, '/limits', /16/],
  ['a bad env name', { command: 'a', env: { 'A B': 'x' } }, '/env/A B', /./],
  ['an env number', { command: 'a', env: { A: 1 } }, '/env/A', /string/],
  [
    'an unknown conflict',
    { command: 'a', unique: { key: 'k', on_conflict: 'x' } },
    '/unique/on_conflict',
    /^expected "existing" or "replace"/,
  ],
  ['input of a command that is no text', { command: 'a', input: 1 }, '/input', /standard input/],
  ['input of a command with too much', { command: 'a', input: { base64: '', a: 1 } }, '/input', /standard input/],
  ['input of a command that is not base64', { command: 'a', input: { base64: 'a' } }, '/input', /standard input/],
  ['an unknown rerun', { command: 'a', rerun: 'maybe' }, '/rerun', /safe/],
  ['a gang of none', { command: 'a', gang: { size: 0 } }, '/gang/size', /1 to 1000/],
  ['a gang that starts with none', { command: 'a', gang: { size: 2, min: 0 } }, '/gang/min', /1 to 1000/],
  [
    'a gang with a min above its size',
    { command: 'a', gang: { size: 2, min: 3 } },
    '/gang/min',
    /at most the size of the gang/,
  ],
  [
    'a gang with min whose members go on alone',
    { command: 'a', gang: { size: 2, min: 1, on_member_failure: 'continue' } },
    '/gang/min',
    /no min with continue/,
  ],
  [
    'a gang with min that expires',
    { command: 'a', gang: { size: 2, min: 1 }, start_timeout: '1m' },
    '/start_timeout',
    /left out/,
  ],
  ['a gang without a size', { command: 'a', gang: {} }, '/gang/size', /./],
  ['a gang with a unique key', { command: 'a', gang: { size: 2 }, unique: { key: 'k' } }, '/unique', /idempotency/],
  [
    'a gang that fails at once, tried again',
    { command: 'a', gang: { size: 2, on_member_failure: 'fail' }, max_attempts: 3 },
    '/max_attempts',
    /gang/,
  ],
  ['a gang that restarts and never reruns', { command: 'a', gang: { size: 2 }, rerun: 'never' }, '/rerun', /fail/],
  ['a gang spread at random', { command: 'a', gang: { size: 2, spread: 'any' } }, '/gang/spread', /pack/],
  ['a string', '"echo"', '', /object/],
  ['null', 'null', '', /object/],
  ['truncated JSON', '{"command":', '', /JSON/],
];

for (const [what, body, pointer, detail] of BAD) {
  test(`POST /jobs: ${what} is refused, with where and why, and nothing is stored`, async () => {
    await using server = await openTestServer();
    const answer = await server.call('POST', '/jobs', body);
    assert.equal(answer.status, 400);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
    assert.equal(answer.body.code, 'bad_request');
    assert.equal(answer.body.request_id, answer.headers.get('x-request-id'));
    const first = answer.body.errors.find((error: { pointer: string }) => error.pointer.startsWith(pointer));
    assert.ok(first, JSON.stringify(answer.body));
    assert.match(first.detail, detail);
    assert.deepEqual((await server.call('GET', '/jobs')).body.items, []);
  });
}

test('an empty command is told once', async () => {
  await using server = await openTestServer();
  assert.equal((await server.call('POST', '/jobs', { command: '' })).body.detail, '/command: must not be empty');
});

test('malformed JSON says where', async () => {
  await using server = await openTestServer();
  const { body } = await server.call('POST', '/jobs', '{"command": "a",\n "queue": }');
  assert.match(body.detail, /queue/);
  const { body: inArray } = await server.call('POST', '/jobs', '[{"command":"a"}, {"command":}]');
  assert.equal(inArray.errors[0].pointer, '/1');
});

test('POST /jobs with an array: all in order, or none', async () => {
  await using server = await openTestServer();
  const jobs = [{ command: 'a' }, { command: 'b, "[]{}\\"' }, { command: 'c' }];
  const { status, body } = await server.call('POST', '/jobs', jobs);
  assert.equal(status, 201);
  assert.deepEqual(
    body.items.map((job: Job) => job.command),
    jobs.map((job) => job.command),
  );
  const bad = await server.call('POST', '/jobs', [{ command: 'd' }, { command: '' }]);
  assert.deepEqual([bad.status, bad.body.errors[0].pointer], [400, '/1/command']);
  assert.equal((await server.call('GET', '/jobs')).body.items.length, 3);
  assert.deepEqual((await server.call('POST', '/jobs', ' [ ] ')).body, { items: [] });
  for (const broken of ['[', '[{}', '[,]', '[{"command":"a"},]', '[{"command":"a"}] x', '[{"command":"a"}}', '[1 2]']) {
    assert.equal((await server.call('POST', '/jobs', broken)).status, 400, broken);
  }
});

test('limits: one job, one item, many items', async () => {
  await using server = await openTestServer();
  const large = { command: 'x'.repeat(1024 * 1024) };
  for (const body of [large, [large]]) {
    const { status, body: problem } = await server.call('POST', '/jobs', body);
    assert.deepEqual([status, problem.code], [413, 'payload_too_large']);
  }
  const many = `[${Array.from({ length: 100_001 }, () => '{"command":"a"}').join(',')}]`;
  assert.equal((await server.call('POST', '/jobs', many)).status, 413);
  const patch = await server.call('PATCH', '/jobs/1', { queue: 'x'.repeat(2 * 1024 * 1024) });
  assert.deepEqual([patch.status, patch.body.code], [413, 'payload_too_large']);
});

test('media types: JSON by whatever name a terminal gives it, nothing else', async () => {
  await using server = await openTestServer();
  const job = '{"command":"a"}';
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'application/x-www-form-urlencoded',
    'application/merge-patch+json',
  ]) {
    assert.equal((await server.call('POST', '/jobs', job, { 'content-type': type })).status, 201, type);
  }
  for (const type of ['text/plain', 'text/html', 'multipart/form-data; boundary=x', 'application/xml']) {
    const { status, body } = await server.call('POST', '/jobs', job, { 'content-type': type });
    assert.deepEqual([status, body.code], [415, 'unsupported_media_type'], type);
  }
  const form = await server.call('POST', '/jobs', 'command=ls', {
    'content-type': 'application/x-www-form-urlencoded',
  });
  assert.equal(form.status, 415);
});

test('GET /jobs: filters, pages, newest first', async () => {
  await using server = await openTestServer();
  await server.call('POST', '/jobs', [
    { command: 'one', queue: 'a', tags: ['x', 'y'], name: 'first' },
    { command: 'two', queue: 'a', tags: ['x'] },
    { command: 'three', queue: 'b', delay: '1h' },
  ]);
  const commands = async (query: string) =>
    (await server.call('GET', `/jobs?${query}`)).body.items.map((job: Job) => job.command);
  assert.deepEqual(await commands(''), ['three', 'two', 'one']);
  assert.deepEqual(await commands('queue=a'), ['two', 'one']);
  assert.deepEqual(await commands('tag=x&tag=y'), ['one']);
  assert.deepEqual(await commands('status=scheduled,running'), ['three']);
  assert.deepEqual(await commands('name=first'), ['one']);
  assert.deepEqual(await commands('q=TW'), ['two']);
  const typed = (text: string, more = '') => commands(`query=${encodeURIComponent(text)}${more}`);
  assert.deepEqual(await typed('queue:a tag:x tag:y since:1h'), ['one']);
  assert.deepEqual(await typed('status:scheduled status:running'), ['three']);
  assert.deepEqual(await typed('TW status:pending'), ['two']);
  assert.deepEqual(await typed('tag:y', '&tag=x'), ['one']);
  assert.deepEqual(await typed('error:503'), []);
  assert.deepEqual(await commands('from=1h'), ['three', 'two', 'one']);
  assert.deepEqual(await commands('to=1h'), []);
  assert.deepEqual(await commands('from=2020-01-01T00:00:00Z&to=2021-01-01T00:00:00%2B02:00'), []);
  const first = await server.call('GET', '/jobs?limit=2');
  assert.equal(first.body.items.length, 2);
  const rest = await server.call('GET', `/jobs?limit=2&cursor=${first.body.next_cursor}`);
  assert.deepEqual([rest.body.items[0].command, rest.body.next_cursor], ['one', null]);
  for (const bad of [
    'limit=0',
    'limit=201',
    'limit=x',
    'status=nope',
    'cursor=zzz',
    'queu=a',
    'from=yesterday',
    'worker_id=x',
    'reason=x',
    'q=',
    'query=',
    'query=until:tomorrow',
    'query=worker:x',
    'query=%22',
    'query=queue:a&queue=a',
  ]) {
    const { status, body } = await server.call('GET', `/jobs?${bad}`);
    assert.deepEqual([status, body.code], [400, 'bad_request'], bad);
  }
  assert.match((await server.call('GET', '/jobs?queu=a')).body.detail, /did you mean queue/);
  const { status, body } = await server.call('GET', `/jobs/${'1'.repeat(10_000)}`);
  assert.deepEqual([status, body.detail], [400, 'A name in the address is too long'], 'it is not repeated');
  const wrong = (await server.call('GET', '/jobs?query=queue:a%20status:faild')).body;
  assert.match(wrong.detail, /"faild".*; did you mean failed\?\nqueue:a status:faild\n {15}\^{5}$/);
});

test('GET /jobs?submitted_by: the jobs of a caller, and how far back it looked', async () => {
  const token = 'a-configured-token-of-many-characters';
  await using server = await openTestServer({ token });
  const call = (method: string, path: string, body?: unknown) =>
    server.call(method, path, body, { authorization: `Bearer ${token}` });
  const { body: job } = await call('POST', '/jobs', { command: 'a' });
  for (const query of ['submitted_by=token', 'query=by:token']) {
    const { body } = await call('GET', `/jobs?${query}`);
    assert.deepEqual([body.items.map(({ id }: { id: string }) => id), body.searched_back_to], [[job.id], null], query);
  }
  assert.deepEqual((await call('GET', '/jobs?submitted_by=nobody')).body.items, []);
  assert.equal((await call('GET', '/jobs?submitted_by=')).status, 400);
  const counted = { action: 'cancel', filter: { submitted_by: 'token' }, dry_run: true };
  assert.equal((await call('POST', '/jobs/bulk', counted)).body.total, 1);
  assert.equal((await call('POST', '/jobs/bulk', { ...counted, filter: { submitted_by: 'nobody' } })).body.total, 0);
});

test('GET /jobs?q: the answer says how far back it looked', async () => {
  await using server = await openTestServer();
  assert.equal((await server.call('GET', '/jobs?q=x')).body.searched_back_to, null, 'nothing was left out');
  const { body } = await server.call('POST', '/jobs', [{ command: 'a' }, { command: 'b' }, { command: 'c' }]);
  assert.equal((await server.call('GET', '/jobs?q=x')).body.searched_back_to, null);
  assert.ok(!('searched_back_to' in (await server.call('GET', '/jobs')).body), 'without text it looks at all');
  const backTo = (newest: number) => searchedBackTo(server.scheduler, newest, AbortSignal.timeout(60_000));
  assert.equal(await backTo(1), Date.parse(body.items[1].created_at));
  assert.equal(await backTo(2), Date.parse(body.items[0].created_at));
  assert.equal(await backTo(3), null);
});

test('PATCH /jobs/{id} while it waits, 409 after', async () => {
  await using server = await openTestServer();
  const { body: job } = await server.call('POST', '/jobs', { command: 'a' });
  const edit = { priority: 5, queue: 'q', run_at: '2099-01-01T00:00:00Z', timeout: '1m', max_attempts: 9, tags: ['t'] };
  const { status, body } = await server.call('PATCH', `/jobs/${job.id}`, edit);
  assert.equal(status, 200);
  assert.deepEqual(
    [body.priority, body.queue, body.run_at, body.timeout, body.max_attempts, body.tags, body.status],
    [5, 'q', '2099-01-01T00:00:00.000Z', 60_000, 9, ['t'], 'scheduled'],
  );
  assert.equal((await server.call('PATCH', `/jobs/${job.id}`, {})).status, 400);
  assert.equal((await server.call('PATCH', `/jobs/${job.id}`, { command: 'b' })).status, 400);
  await server.call('POST', `/jobs/${job.id}/cancel`);
  const late = await server.call('PATCH', `/jobs/${job.id}`, { priority: 1 });
  assert.deepEqual([late.status, late.body.code, late.body.job_id], [409, 'illegal_transition', job.id]);
});

test('cancel: 200 for a waiting job, 202 for a running one; retry brings it back', async () => {
  await using server = await openTestServer();
  const { body: waiting } = await server.call('POST', '/jobs', { command: 'a', delay: '1h' });
  const { status, body } = await server.call('POST', `/jobs/${waiting.id}/cancel`);
  assert.deepEqual([status, body.status, body.reason], [200, 'cancelled', 'cancelled']);
  assert.equal((await server.call('POST', `/jobs/${waiting.id}/cancel`)).status, 200);
  await server.call('POST', '/jobs', { command: 'b' });
  const { id, worker, attempt } = await claimOverHttp(server);
  const asked = await server.call('POST', `/jobs/${id}/cancel`, {});
  assert.deepEqual([asked.status, asked.body.status], [202, 'running']);
  assert.ok(asked.body.cancel_requested_at);
  await server.call('POST', `/jobs/${id}/fail`, { worker_id: worker, attempt, exit_code: 1 });
  assert.equal((await server.call('GET', `/jobs/${id}`)).body.status, 'cancelled');
  const retried = await server.call('POST', `/jobs/${id}/retry`);
  assert.deepEqual([retried.status, retried.body.status, retried.body.attempts], [200, 'pending', 1]);
  const again = await server.call('POST', `/jobs/${id}/retry`);
  assert.deepEqual([again.status, again.body.code], [409, 'illegal_transition']);
  assert.equal((await server.call('POST', `/jobs/${id}/cancel`, { cascade: 'x' })).status, 400);
});

test('wait: answers when the job ends, and with the job as it is when time is up', async () => {
  await using server = await openTestServer();
  const { body: job } = await server.call('POST', '/jobs', { command: 'a' });
  const now = await server.call('GET', `/jobs/${job.id}/wait?timeout=0`);
  assert.deepEqual([now.status, now.body.status], [200, 'pending']);
  assert.deepEqual(Job.parse(now.body), now.body);
  const { id, worker, attempt } = await claimOverHttp(server);
  const waiting = server.call('GET', `/jobs/${id}/wait?timeout=1m`);
  await server.call('POST', `/jobs/${id}/done`, { worker_id: worker, attempt, result: { rows: 7 } });
  const ended = await waiting;
  assert.deepEqual([ended.body.status, ended.body.result, ended.body.exit_code], ['done', { rows: 7 }, 0]);
  assert.equal((await server.call('GET', `/jobs/${id}/wait?timeout=soon`)).status, 400);
});

test('attempts: each ended one, oldest first', async () => {
  await using server = await openTestServer();
  await server.call('POST', '/jobs', { command: 'a', backoff: { type: 'none' } });
  const first = await claimOverHttp(server);
  await server.call('POST', `/jobs/${first.id}/fail`, { worker_id: first.worker, attempt: 1, exit_code: 7 });
  const second = await claimOverHttp(server);
  await server.call('POST', `/jobs/${first.id}/done`, { worker_id: second.worker, attempt: 2 });
  const { body } = await server.call('GET', `/jobs/${first.id}/attempts`);
  assert.deepEqual(
    body.items.map((each: Record<string, unknown>) => [
      each['attempt'],
      each['outcome'],
      each['exit_code'],
      each['error'],
    ]),
    [
      [1, 'failed', 7, 'exit 7'],
      [2, 'done', 0, null],
    ],
  );
});

test('what is not there is 404, whatever the id looks like', async () => {
  await using server = await openTestServer();
  for (const id of ['999', 'abc', '0', '-1', '1e3', '99999999999999999999', '%00', '1%2F2', 'x'.repeat(500)]) {
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/attempts'],
      ['GET', '/logs'],
      ['GET', '/wait'],
      ['POST', '/cancel'],
      ['POST', '/retry'],
    ] as const) {
      const { status, body } = await server.call(method, `/jobs/${id}${path}`);
      assert.deepEqual([status, body.code], [404, 'job_not_found'], `${method} /jobs/${id}${path}`);
    }
  }
  assert.equal((await server.call('GET', '/operations/7')).body.code, 'operation_not_found');
  assert.equal((await server.call('POST', '/workers/7/drain')).body.code, 'worker_not_found');
  const unknown = await server.call('GET', '/nowhere');
  assert.deepEqual([unknown.status, unknown.body.code], [404, 'not_found']);
  assert.equal((await server.call('GET', '/jobs/%zz')).status, 400);
});

test('another method is 405 with the ones there are', async () => {
  await using server = await openTestServer();
  const { status, headers, body } = await server.call('PUT', '/jobs/1', '{}');
  assert.deepEqual([status, body.code], [405, 'method_not_allowed']);
  assert.deepEqual(headers.get('allow')?.split(', ').sort(), ['DELETE', 'GET', 'PATCH']);
  assert.equal((await server.call('PUT', '/jobs', '{}')).headers.get('allow'), 'POST, GET');
});

test('queues: pause, resume, limit', async () => {
  await using server = await openTestServer();
  await server.call('POST', '/jobs', { command: 'a', queue: 'mail/übung' });
  const path = `/queues/${encodeURIComponent('mail/übung')}`;
  const paused = await server.call('PATCH', path, { paused: true, max_running: 2 });
  assert.deepEqual([paused.status, paused.body.paused, paused.body.max_running], [200, true, 2]);
  assert.ok(paused.body.paused_at);
  const { body } = await server.call('GET', '/queues');
  assert.deepEqual([body.items[0].name, body.items[0].pending], ['mail/übung', 1]);
  const resumed = await server.call('PATCH', path, { paused: false, max_running: null });
  assert.deepEqual([resumed.body.paused, resumed.body.max_running], [false, null]);
  const rated = await server.call('PATCH', path, { rate: { limit: 100, per: '1m', burst: 20 } });
  assert.deepEqual(rated.body.rate, { limit: 100, per: 60_000, burst: 20 });
  assert.equal((await server.call('PATCH', path, { rate: null })).body.rate, null);
  for (const bad of [
    {},
    { paused: 'yes' },
    { max_running: -1 },
    { pausd: true },
    { rate: { limit: 0, per: '1s' } },
    { rate: { limit: 1 } },
  ]) {
    assert.equal((await server.call('PATCH', path, bad)).status, 400, JSON.stringify(bad));
  }
  assert.equal((await server.call('PATCH', `/queues/${'q'.repeat(200)}`, { paused: true })).status, 400);
});

test('notify: slow needs its duration, and is read back with it', async () => {
  await using server = await openTestServer();
  const webhook = 'https://example.com/hook';
  const submit = (entry: object) => server.call('POST', '/jobs', { command: 'a', notify: [{ webhook, ...entry }] });
  const { body } = await submit({ on: ['slow', 'done', 'cancelled'], slow_after: '10m' });
  assert.deepEqual(body.notify, [
    { on: ['slow', 'done', 'cancelled'], webhook, late_after: 300_000, slow_after: 600_000 },
  ]);
  for (const bad of [
    { on: ['slow'] },
    { on: ['done'], slow_after: '10m' },
    { on: ['slow'], slow_after: '0s' },
    { on: ['ended'] },
  ]) {
    const refused = await submit(bad);
    assert.equal(refused.status, 400, JSON.stringify(bad));
    assert.match(refused.body.errors[0].pointer, /^\/notify\/0\/(slow_after|on\/0)$/);
  }
});

test('bulk: counts, acts on what matches, can be watched', async () => {
  await using server = await openTestServer();
  await server.call('POST', '/jobs', [
    { command: 'a', tags: ['old'] },
    { command: 'b', tags: ['old'] },
    { command: 'c' },
  ]);
  const filter = { tag: 'old', status: ['pending'] };
  const dry = await server.call('POST', '/jobs/bulk', { action: 'cancel', filter, dry_run: true });
  assert.deepEqual([dry.status, dry.body], [200, { total: 2, dry_run: true, operation: null }]);
  const started = await server.call('POST', '/jobs/bulk', { action: 'cancel', filter });
  assert.deepEqual([started.status, started.body.total], [202, 2]);
  const path = started.headers.get('location') as string;
  assert.equal(path, `/operations/${started.body.operation.id}`);
  let operation = started.body.operation;
  while (operation.status === 'running') operation = (await server.call('GET', path)).body;
  assert.deepEqual([operation.status, operation.changed, operation.skipped], ['done', 2, 0]);
  const { body: left } = await server.call('GET', '/jobs?status=pending');
  assert.equal(left.items.length, 1);
  for (const bad of [
    { action: 'purge', filter: {} },
    { action: 'cancel' },
    { action: 'cancel', filter: { tga: 'x' } },
  ]) {
    assert.equal((await server.call('POST', '/jobs/bulk', bad)).status, 400, JSON.stringify(bad));
  }
});

test('health, readiness, metrics, statistics, the root and the API document', async () => {
  await using server = await openTestServer();
  const health = await server.call('GET', '/health');
  assert.deepEqual([health.status, health.body.status, health.body.instance_id], [200, 'ok', 'test']);
  assert.equal(typeof health.body.uptime_seconds, 'number');
  assert.deepEqual((await server.call('GET', '/ready')).body, { ready: true, problems: [] });
  const metrics = await server.call('GET', '/metrics');
  assert.match(metrics.headers.get('content-type') ?? '', /^text\/plain/);
  assert.match(metrics.body, /workron_/);
  const stats = await server.call('GET', '/stats?from=2h');
  assert.deepEqual([stats.status, stats.body.totals.done], [200, 0]);
  assert.equal((await server.call('GET', '/stats?from=90d')).status, 400);
  assert.match((await server.call('GET', '/')).body.try, /^curl -d/);
  const { body: document } = await server.call('GET', '/openapi.json');
  assert.equal(document.openapi, '3.1.0');
  assert.ok(document.paths['/jobs/{id}/logs'].get && document.components.schemas.JobSubmission);
  assert.equal((await server.call('HEAD', '/health')).status, 200);
  server.scheduler.drain();
  const draining = await server.call('GET', '/ready');
  assert.deepEqual([draining.status, draining.body.problems], [503, ['shutting down']]);
});

/** Properties that a schema, or one inside of it, requires and does not declare. `declared`: those of a schema around its cases. */
function undeclaredIn(schema: unknown, at = '', declared: object = {}): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { required = [], properties = declared } = schema as { required?: string[]; properties?: object };
  const own = Array.isArray(required) ? required.filter((name) => !(name in properties)) : [];
  const inner = Object.entries(schema).flatMap(([name, value]) =>
    undeclaredIn(value, `${at}/${name}`, name === 'oneOf' || Array.isArray(schema) ? properties : {}),
  );
  return [...own.map((name) => `${at}/${name}`), ...inner];
}

test('API document: it says where the API is, and declares what it requires', async () => {
  await using server = await openTestServer();
  const { body: document } = await server.call('GET', '/openapi.json');
  const [{ url }] = document.servers;
  for (const [of, is] of [
    ['http://h/openapi.json', 'http://h/'],
    ['http://h/api/openapi.json', 'http://h/api/'],
  ]) {
    assert.equal(new URL(url, of).href, is);
  }
  assert.deepEqual(undeclaredIn(document.components.schemas), []);
});

test('X-Request-ID: the caller’s where it is fit for a log line, and on every line of the request', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = (fields: object) => ({
    debug: (more: object) => void lines.push({ ...fields, ...more }),
    info: (more: object) => void lines.push({ ...fields, ...more }),
    warn: (more: object) => void lines.push({ ...fields, ...more }),
    error: (more: object) => void lines.push({ ...fields, ...more }),
    child: (more: object) => log({ ...fields, ...more }),
  });
  await using server = await openTestServer({ log: log({}) });
  const mine = await server.call('GET', '/jobs', undefined, { 'x-request-id': 'trace-1.a' });
  assert.equal(mine.headers.get('x-request-id'), 'trace-1.a');
  const hostile = await server.call('GET', '/jobs', undefined, { 'x-request-id': 'a b{"' });
  assert.match(hostile.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
  await server.call('GET', '/health');
  // The scheduler logs that it leads its duties.
  const requests = lines.filter((line) => !('terms' in line));
  assert.deepEqual(
    requests.map((line) => line['request_id']),
    ['trace-1.a', hostile.headers.get('x-request-id')],
  );
});

test('POST /jobs/{id}/rerun: a new job with the environment of the old one, which it names', async () => {
  await using server = await openTestServer();
  const submission = {
    command: 'echo "$SECRET"',
    env: { SECRET: 's' },
    queue: 'q',
    timeout: '1m',
    unique: { key: 'k' },
    delay: '1h',
  };
  const first = (await server.call('POST', '/jobs', submission)).body;
  const headers = { 'idempotency-key': 'once' };
  const again = await server.call('POST', `/jobs/${first.id}/rerun`, undefined, headers);
  assert.equal(again.status, 201);
  assert.deepEqual(SubmittedJob.parse(again.body), again.body);
  const { id, rerun_of, status, env, queue, timeout, unique_key, deduplicated } = again.body;
  assert.deepEqual(
    [rerun_of, status, env, queue, timeout, unique_key, deduplicated],
    [first.id, 'pending', ['SECRET'], 'q', 60_000, null, false],
  );
  assert.equal(again.headers.get('location'), `/jobs/${id}`);
  const replayed = await server.call('POST', `/jobs/${first.id}/rerun`, undefined, headers);
  assert.deepEqual([replayed.body.id, replayed.headers.get('idempotent-replayed')], [id, 'true']);
  const { body: registered } = await server.call('POST', '/workers/register', { name: 'w' });
  const { body: claimed } = await server.call('POST', '/jobs/claim', { worker_id: registered.worker_id });
  assert.deepEqual([claimed.items[0]?.id, claimed.items[0]?.env], [id, { SECRET: 's' }]);
  assert.equal((await server.call('POST', '/jobs/999/rerun')).status, 404);
  assert.equal((await server.call('POST', `/jobs/${id}/rerun`, { a: 1 })).status, 400);
});

test('POST /jobs/{id}/rerun: a step needs its workflow, and the answer says so', async () => {
  await using server = await openTestServer();
  const workflow = { name: 'w', steps: [{ key: 'a', command: 'true' }] };
  const { id } = (await server.call('POST', '/workflows', workflow)).body;
  const [step] = (await server.call('GET', `/jobs?workflow_id=${id}`)).body.items;
  const { status, body } = await server.call('POST', `/jobs/${step.id}/rerun`);
  assert.deepEqual([status, body.code], [409, 'illegal_transition']);
  assert.match(body.detail, /step a of workflow 1 .*rerun the workflow from this step/);
});

test('GET /jobs?unique_key: jobs that were submitted with the key', async () => {
  await using server = await openTestServer();
  const job = (await server.call('POST', '/jobs', { command: 'x', unique: { key: 'k1' } })).body;
  await server.call('POST', '/jobs', { command: 'x', unique: { key: 'k2' } });
  assert.equal((await server.call('GET', `/jobs/${job.id}`)).body.unique_key, 'k1');
  const { items } = (await server.call('GET', '/jobs?unique_key=k1')).body;
  assert.deepEqual(
    items.map(({ id }: { id: string }) => id),
    [job.id],
  );
});

test('PATCH /jobs/{id}: a delay counts from now; not together with run_at', async () => {
  await using server = await openTestServer();
  const { id } = (await server.call('POST', '/jobs', { command: 'x', delay: '1h' })).body;
  const now = (await server.call('PATCH', `/jobs/${id}`, { delay: '0s' })).body;
  assert.equal(now.status, 'pending');
  const later = (await server.call('PATCH', `/jobs/${id}`, { delay: '10m' })).body;
  assert.equal(later.status, 'scheduled');
  assert.equal(Date.parse(later.run_at) - Date.parse(now.run_at) >= 600_000, true);
  const both = await server.call('PATCH', `/jobs/${id}`, { delay: '1m', run_at: '2030-01-01T00:00:00Z' });
  assert.deepEqual([both.status, both.body.errors[0].pointer], [400, '/delay']);
});

test('GET /jobs/{id}/wait: more than ten minutes is refused, not cut', async () => {
  await using server = await openTestServer();
  const { id } = (await server.call('POST', '/jobs', { command: 'x' })).body;
  const { status, body } = await server.call('GET', `/jobs/${id}/wait?timeout=20m`);
  assert.equal(status, 400);
  assert.match(body.errors[0].detail, /at most 10m/);
});

test('POST /jobs/{id}/retry: a job that is not over is refused with what to do instead', async () => {
  await using server = await openTestServer();
  const { id } = (await server.call('POST', '/jobs', { command: 'x', delay: '1h' })).body;
  const { status, body } = await server.call('POST', `/jobs/${id}/retry`);
  assert.equal(status, 409);
  assert.match(body.detail, /it is scheduled; .*edit it with delay 0s/);
});

test('unique: debounce, after and supersede are checked, and rules between their fields are named', async () => {
  await using server = await openTestServer();
  const submit = (unique: object, more: object = {}) =>
    server.call('POST', '/jobs', { command: 'x', unique: { key: 'k', ...unique }, ...more });
  for (const [unique, more, pointer] of [
    [{ wait: '0s' }, {}, '/unique/wait'],
    [{ wait: '10s' }, { delay: '1s' }, '/unique/wait'],
    [{ max_wait: '10s' }, {}, '/unique/max_wait'],
    [{ wait: '10s', max_wait: '5s', on_conflict: 'replace' }, {}, '/unique/max_wait'],
    [{ wait: '10s', max_wait: '20s' }, {}, '/unique/max_wait'],
    [{ on_conflict: 'after', while: 'pending' }, {}, '/unique/while'],
    [{ on_conflict: 'supersede', while: '10s' }, {}, '/unique/while'],
    [{ on_conflict: 'newest' }, {}, '/unique/on_conflict'],
  ] as const) {
    const { status, body } = await submit(unique, more);
    assert.deepEqual([status, body.errors?.[0]?.pointer], [400, pointer], JSON.stringify(unique));
  }
  const { body } = await submit({ wait: '10s', max_wait: '2m', on_conflict: 'supersede' });
  assert.deepEqual([body.status, body.deduplicated], ['scheduled', false]);
});
