/** The workflows of examples/, run by a real Workron. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { lstat, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Job } from '../../src/api/job.ts';
import type { WorkflowDetail } from '../../src/api/workflow/workflow.ts';
import { first } from '../kit/certificates.ts';
import type { Called } from '../kit/command-line.ts';
import { callHosted } from '../kit/hosted-calls.ts';
import { startSmtp } from '../kit/smtp-server.ts';
import { api, startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

const examples = join(import.meta.dirname, '..', '..', 'examples');
const stack = new AsyncDisposableStack();
let server: WorkronProcess;
/** What the commands call their temporary folder. */
let scratch: string;

before(async () => {
  scratch = stack.use(await temporaryFolder()).path;
  const folder = stack.use(await temporaryFolder()).path;
  const args = ['up', '--port', '0', '--workers', '4', '--db-url', join(folder, 'jobs.db'), '--log-level', 'warn'];
  const home = stack.use(await temporaryFolder()).path;
  await writeFile(join(home, 'ca.pem'), first.cert);
  await writeFile(join(home, '.curlrc'), `cacert = ${join(home, 'ca.pem')}\n`);
  await writeFile(join(home, '.netrc'), 'machine localhost login workron password secret\n', { mode: 0o600 });
  server = stack.use(await startWorkron({ args, env: { TMPDIR: scratch, HOME: home } }));
});
after(() => stack.disposeAsync());

interface Ran extends Called {
  workflow: WorkflowDetail;
  /** Statuses by step. */
  steps: Record<string, string>;
}

async function workron(args: readonly string[]): Promise<Ran> {
  const called = await callHosted(['workflow', ...args, '--follow', '--json'], { env: { WORKRON_URL: server.url } });
  const workflow = JSON.parse(called.stdout || assert.fail(called.stderr)) as WorkflowDetail;
  return { ...called, workflow, steps: Object.fromEntries(workflow.steps.map(({ key, status }) => [key, status])) };
}

function run(name: string, params: Record<string, string>): Promise<Ran> {
  const flags = Object.entries(params).flatMap(([param, value]) => ['--param', `${param}=${value}`]);
  return workron(['run', join(examples, `${name}.yaml`), ...flags]);
}

async function jobOf({ workflow }: Ran, key: string): Promise<Job> {
  return api<Job>(server.url, `/jobs/${workflow.steps.find((step) => step.key === key)?.job_id}`);
}

/** What the commands have left, apart from the worker's own files. */
function leftovers(): string[] {
  return readdirSync(scratch).filter((name) => name.startsWith('tmp.'));
}

describe('examples', { concurrency: false }, () => {
  test('nightly-report: writes the report, alerts nobody, cleans up', async () => {
    await using reports = await temporaryFolder();
    const ran = await run('nightly-report', { date: '2026-11-15', report_folder: reports.path });
    assert.deepEqual([ran.code, ran.workflow.status], [0, 'done'], ran.stdout);
    assert.deepEqual(ran.steps, {
      prepare: 'done',
      collect: 'done',
      check: 'done',
      report: 'done',
      alert: 'skipped',
      'clean-up': 'done',
    });
    const file = join(reports.path, 'report-2026-11-15.txt');
    assert.equal(await readFile(file, 'utf8'), '5 orders, total 150\n');
    assert.deepEqual((await jobOf(ran, 'report')).result, { file });
    assert.deepEqual(leftovers(), []);
  });

  test('nightly-report: a failed check skips the report, tells somebody, and still cleans up', async () => {
    await using reports = await temporaryFolder();
    const params = { date: '2026-11-15', report_folder: reports.path, minimum_rows: '1000' };
    const ran = await run('nightly-report', params);
    assert.deepEqual([ran.code, ran.workflow.status], [1, 'failed'], ran.stdout);
    assert.deepEqual(ran.steps, {
      prepare: 'done',
      collect: 'done',
      check: 'failed',
      report: 'skipped',
      alert: 'done',
      'clean-up': 'done',
    });
    assert.match((await jobOf(ran, 'check')).error ?? '', /^exit 1\nonly 5 rows, expected at least 1000\n/);
    assert.equal((await jobOf(ran, 'report')).reason, 'upstream_failed');
    assert.deepEqual(leftovers(), []);
    assert.deepEqual(readdirSync(reports.path), []);
  });

  test('process-files: one job for each file that is found, whatever it is called', async () => {
    await using folder = await temporaryFolder();
    const names = ['a.md', 'b c.md', 'quo"te.md', 'back\\slash.md', '$(touch hacked).md', 'other.txt'];
    for (const [index, name] of names.entries()) {
      await writeFile(join(folder.path, name), 'line\n'.repeat(index + 1));
    }
    const ran = await run('process-files', { folder: folder.path });
    assert.deepEqual([ran.code, ran.steps], [0, { find: 'done', count: 'done', total: 'done' }], ran.stdout);
    assert.deepEqual((await jobOf(ran, 'total')).result, { total: '15' });
    const group = ran.workflow.steps[1]?.group;
    assert.deepEqual([group?.total, group?.fine, group?.max_parallel], [5, 5, 4]);
    assert.ok(!existsSync(join(folder.path, 'hacked')));
  });

  test('process-files: no files are no failure', async () => {
    await using folder = await temporaryFolder();
    const ran = await run('process-files', { folder: folder.path, pattern: '*.none' });
    assert.equal(ran.code, 0, ran.stdout);
    assert.deepEqual((await jobOf(ran, 'total')).result, { total: '0' });
  });

  test('build-test-deploy: a failed deployment is rolled back; a rerun from it keeps what was built', async () => {
    await using releases = await temporaryFolder();
    const current = join(releases.path, 'staging', 'current');
    assert.equal((await run('build-test-deploy', { version: '1.0.0', releases: releases.path })).code, 0);
    assert.equal(await readFile(current, 'utf8'), 'release 1.0.0\n');

    // A disk that takes everything and keeps nothing.
    await rm(current);
    await symlink('/dev/null', current);
    const failed = await run('build-test-deploy', { version: '1.1.0-rc', releases: releases.path });
    assert.deepEqual([failed.code, failed.workflow.status], [1, 'failed'], failed.stdout);
    assert.deepEqual(failed.steps, {
      build: 'done',
      lint: 'failed',
      test: 'done',
      deploy: 'done',
      'smoke-test': 'failed',
      'roll-back': 'done',
      announce: 'done',
    });
    assert.ok((await lstat(current)).isFile(), 'what was there before is there again');

    const rerun = await workron(['rerun', failed.workflow.id, '--from', 'deploy']);
    assert.deepEqual([rerun.code, rerun.workflow.rerun_of], [0, failed.workflow.id], rerun.stdout);
    assert.deepEqual([rerun.steps['build'], rerun.steps['test'], rerun.steps['deploy']], ['done', 'done', 'done']);
    const built = await jobOf(rerun, 'build');
    assert.deepEqual([built.attempts, built.result], [0, (await jobOf(failed, 'build')).result]);
    assert.equal(await readFile(current, 'utf8'), 'release 1.1.0-rc\n');
  });

  const mailBy = (url: string) =>
    callHosted(
      ['notify', 'test', `failed=${join(examples, 'notify-mail.sh')} ${url} workron@example.com ops@example.com`],
      {
        env: { WORKRON_URL: server.url },
      },
    );

  test('notify-mail.sh: a mail server with STARTTLS and a password gets a complete mail', async () => {
    await using smtp = await startSmtp({ tls: first });
    const { code, stdout, stderr } = await mailBy(`smtp://localhost:${smtp.port}`);
    assert.equal(code, 0, stdout + stderr);
    const [mail, ...others] = smtp.mails;
    assert.deepEqual(others, []);
    const { from, to, login, encrypted } = mail ?? assert.fail();
    assert.deepEqual(
      { from, to, login, encrypted },
      {
        from: 'workron@example.com',
        to: 'ops@example.com',
        login: 'workron secret',
        encrypted: true,
      },
    );
    assert.match(mail?.headers['Subject'] ?? '', /^Test message of Workron: .*"failed"$/);
    assert.match(mail?.headers['Message-ID'] ?? '', /^<test-[0-9a-f-]{36}\.failed\.workron@example\.com>$/);
    assert.ok(Math.abs(Date.parse(mail?.headers['Date'] ?? '') - Date.now()) < 600_000);
    assert.match(Buffer.from(mail?.body ?? '', 'base64').toString(), /^Test message of Workron: .*"failed"\n$/);
  });

  test('notify-mail.sh: nothing is sent in the clear unless the address says so, and a refusal fails the job', async () => {
    await using plain = await startSmtp();
    assert.equal((await mailBy(`smtp://localhost:${plain.port}`)).code, 1);
    assert.equal(plain.mails.length, 0);
    assert.equal((await mailBy(`smtp+plain://127.0.0.1:${plain.port}`)).code, 0);
    assert.deepEqual([plain.mails.length, plain.mails[0]?.login], [1, null]);
    await using busy = await startSmtp({ refusal: '451 try again later' });
    assert.equal((await mailBy(`smtp+plain://127.0.0.1:${busy.port}`)).code, 1);
  });

  test('notify-mail.sh: what a job prints cannot add a header, and the body keeps every character', async () => {
    await using smtp = await startSmtp();
    const text = 'büro failed: x\r\nBcc: eve@example.com\r\n\r\nbody';
    const script = join(examples, 'notify-mail.sh');
    const child = spawn(script, [`smtp+plain://127.0.0.1:${smtp.port}`, 'a@example.com', 'b@example.com'], {
      env: {
        PATH: process.env['PATH'],
        WORKRON_NOTIFY_EVENT: 'failed',
        WORKRON_NOTIFY_TEXT: text,
        WORKRON_NOTIFY_ERROR: '.\n..\ndots',
        WORKRON_NOTIFY_LINK: 'https://workron.example.org/jobs/7',
        WORKRON_NOTIFY_JSON: JSON.stringify({ id: '12', event: 'failed' }),
      },
      stdio: 'ignore',
    });
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    const [mail] = smtp.mails;
    assert.equal(mail?.headers['Bcc'], undefined);
    assert.equal(mail?.headers['Subject'], 'bro failed: xBcc: eve@example.combody');
    assert.equal(mail?.headers['Message-ID'], '<12.failed.a@example.com>');
    assert.equal(
      Buffer.from(mail?.body ?? '', 'base64').toString(),
      `${text}\n\nhttps://workron.example.org/jobs/7\n\n.\n..\ndots\n`,
    );
  });
});
