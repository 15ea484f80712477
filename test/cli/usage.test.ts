/** The command line where no Workron answers: usage, help, suggestions, exit codes. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { COMMANDS, EVERYDAY } from '../../src/cli/commands.ts';
import { exitCodeOf, exitCodeOfStatus } from '../../src/cli/errors/cli-error.ts';
import { failureOf } from '../../src/cli/errors/failure.ts';
import { commandOf } from '../../src/cli/input/shell-line.ts';
import { renderTable } from '../../src/cli/output/table.ts';
import { createProgram } from '../../src/cli/program.ts';
import { callWorkron } from '../kit/command-line.ts';
import { temporaryFolder } from '../kit/workron-process.ts';

/** Nothing listens on the discard port. */
const nowhere = { WORKRON_URL: 'http://127.0.0.1:59' };

describe('command line', { concurrency: 2 }, () => {
  test('usage: a wrong command, flag or value ends with 2, a suggestion, and nothing on stdout', async () => {
    const wrong: [string[], RegExp][] = [
      [['jbos'], /unknown command 'jbos'\nhint: did you mean jobs\?/],
      [['jobs', '--statsu', 'done'], /unknown option '--statsu'\nhint: did you mean --status\?/],
      [['submit', '--prio', '5', '--', 'true'], /unknown option '--prio'\nhint: did you mean --priority\?/],
      [['submit', '--prio=5', '--', 'true'], /unknown option '--prio=5'\nhint: did you mean --priority\?/],
      [['up', '--heart', '5s'], /unknown option '--heart'\nhint: did you mean --heartbeat\?/],
      [['jobs', '--status', 'runing'], /^--status: expected blocked.*, got "runing"\nhint: did you mean running\?/],
      [['jobs', '--limit', '-1'], /^--limit: expected a whole number from 1, got "-1"\n/],
      [['logs', '1', '--tail', 'é\n'.repeat(5_000)], /^--tail: expected a whole number from 0, got "(é\\n){30}…"\n/],
      [['completion', 'tcsh'], /^the shell: expected bash, zsh, fish, got "tcsh"\n/],
      [['notify', 'test', 'foo'], /^the target: expected EVENT,…=URL or EVENT,…=COMMAND, got "foo"\n/],
      [['schedule', 'show', ''], /^the name: must not be empty\n/],
      [['frobnicate'], /^unknown command 'frobnicate'\nhint: workron --help lists the commands$/],
      [['workflow', 'frobnicate'], /^unknown command 'frobnicate'\nhint: workron workflow --help lists/],
      [['queues', 'pause'], /^missing required argument 'name'\nhint: workron queues pause \[options\] <name...>$/],
      [['tokens', 'create', 'ci'], /'--role <ROLE>' not specified\nhint: workron tokens create \[options\] <name>$/],
      [['queues', 'puase', 'mail'], /unknown command 'queues puase'\nhint: did you mean pause\?/],
      [['run', 'ls', '-la'], /unknown option '-la'\nhint: put -- before the command of the job/],
      [['submit', '--retries', '3', '--', 'true'], /unknown option '--retries'\nhint: did you mean --max-attempts\?/],
      [['submit', '--after', '3', '--', 'true'], /unknown option '--after'\nhint: did you mean --depends-on\?/],
      [['jobs', '--from', '1h'], /unknown option '--from'\nhint: did you mean --since\?/],
      [['jobs', '--tokn-file', 'x'], /unknown option '--tokn-file'\nhint: did you mean --token-file\?/],
      [['submit', '--depends-on', '3:nonsense', '--', 'true'], /^--depends-on: expected job ids such as 12,13:failure/],
      [
        ['submit', '--backoff', 'liner:5s', '--', 'true'],
        /^--backoff: expected exponential, fixed, none, got "liner:5s"/,
      ],
      [['submit', '--unique-wait', '5s', '--', 'true'], /^--unique-wait needs --unique/],
      [['submit'], /expected a command after --/],
      [['cancel'], /expected job ids, or flags or a filter/],
      [['job', 'twelve'], /"twelve" is not a job id/],
      [['edit', '1'], /expected something to change/],
      [['up', '--port', 'x'], /--port: expected a whole number/],
      [['up', '--db-driver', 'postgres'], /db-driver postgres needs a db-url/],
      [['worker'], /a worker needs a scheduler/],
      [['help', 'lgos'], /no help on "lgos"\nhint: did you mean logs\?/],
    ];
    for (const [args, message] of wrong) {
      const program = await createProgram(args[0]);
      const failure = await program.parseAsync(args, { from: 'user' }).then(
        () => undefined,
        (error: unknown) => failureOf(error, args),
      );
      assert.equal(failure?.exitCode, 2, args.join(' '));
      assert.match(`${failure?.message}\nhint: ${failure?.hint}`, message);
    }
    const { code, stdout, stderr } = await callWorkron(['jbos']);
    assert.deepEqual([code, stdout, stderr], [2, '', "error: unknown command 'jbos'\nhint: did you mean jobs?\n"]);
    const long = await callWorkron(['j'.repeat(10_000)]);
    assert.match(long.stderr, /^error: unknown command 'j{59}…\n/);
  });

  test('usage: a command is found by its names, and loaded alone', async () => {
    for (const { names, group } of COMMANDS) {
      for (const name of names) {
        const { commands } = await createProgram(name);
        assert.deepEqual(
          commands.map((command) => [command.name(), ...command.aliases()]),
          [names],
        );
        assert.equal(commands[0]?.helpGroup(), group);
      }
    }
    const all = (await createProgram('nonsense')).commands.map((command) => command.name());
    assert.deepEqual(all, [...COMMANDS.map(({ names }) => names[0]), 'help']);
  });

  test('usage: with --json an error is one JSON object on stderr', async () => {
    const { code, stderr } = await callWorkron(['jobs', '--json', '--limt', '3']);
    assert.equal(code, 2);
    assert.equal((JSON.parse(stderr) as { hint: string }).hint, 'did you mean --limit?');
  });

  test('usage: not reachable is 6 with a hint how to start one; for run and wait it is 125', async () => {
    const listed = await callWorkron(['jobs'], { env: nowhere });
    assert.equal(listed.code, 6);
    assert.match(
      listed.stderr,
      /cannot connect to Workron at http:\/\/127\.0\.0\.1:59 .*\nhint: start one with `workron up`.*or set --url or WORKRON_URL/,
    );
    assert.equal((await callWorkron(['wait', '1'], { env: nowhere })).code, 125);
    assert.equal((await callWorkron(['run', '--', 'true'], { env: nowhere })).code, 125);
  });

  test('usage: help, version and the topics go to stdout and end with 0', async () => {
    for (const [args, expected] of [
      [[], /Usage: workron/],
      [['--help'], /Usage: workron/],
      [['help', 'submit'], /--unique <KEY>/],
      [['help', 'all'], /^Database:\n  migrate /m],
      [['help', 'all', 'submit'], /--token-file <FILE>/],
      [['help', 'connection'], /^--token-file <FILE> +File/m],
      [['queues', 'set', '--help'], /--max-running/],
      [['up', '--help'], /--port <NUMBER>[\s\S]*\d\d more settings: workron help all up/],
      [['help', 'all', 'up'], /--reap-every <DURATION>[\s\S]*WORKRON_REAP_EVERY/],
      [['help', 'exit-codes'], /^124 /m],
      [['help', 'environment'], /WORKRON_DB_URL/],
      [['--version'], /^\d+\.\d+\.\d+\n$/],
    ] as const) {
      const { code, stdout } = await callWorkron(args);
      assert.equal(code, 0, args.join(' '));
      assert.match(stdout, expected);
    }
  });

  test('usage: the help of everyday commands is short: 12 of them, at most 80 lines each, no flag of the connection', async () => {
    const program = await createProgram();
    const everyday = program.commands.filter((command) => command.helpGroup() === EVERYDAY);
    assert.equal(everyday.length, 12);
    const { stdout } = await callWorkron(['--help']);
    assert.deepEqual(
      [...(stdout.split(EVERYDAY)[1] as string).matchAll(/^ {2}(\w+) {2,}\S/gm)].map(([, name]) => name),
      everyday.map((command) => command.name()),
    );
    const all = everyday.flatMap((command) => [command, ...command.commands]);
    const tooLong = all.filter((command) => command.helpInformation().split('\n').length > 80);
    assert.deepEqual(
      tooLong.map((command) => command.name()),
      [],
    );
    assert.deepEqual(
      all.filter((command) => command.helpInformation().includes('--token')).map((command) => command.name()),
      ['up'],
    );
  });

  test('usage: ./workron.yaml is read if it exists, and its mistakes are reported', async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'workron.yaml'), 'url: http://127.0.0.1:57\n');
    const { stderr } = await callWorkron(['jobs'], { cwd: folder.path });
    assert.match(stderr, /cannot connect to Workron at http:\/\/127\.0\.0\.1:57/);
    await writeFile(join(folder.path, 'workron.yaml'), 'prot: 1\n');
    const { code, stderr: mistake } = await callWorkron(['up'], { cwd: folder.path });
    assert.equal(code, 2);
    assert.match(mistake, /workron\.yaml: prot: unknown setting\nhint: did you mean port\?/);
  });

  test('usage: colours only where they are asked for', async () => {
    const env = { ...nowhere, FORCE_COLOR: '1' };
    assert.ok((await callWorkron(['jobs'], { env })).stderr.startsWith('\u001b[31merror:'));
    assert.ok(!(await callWorkron(['jobs'], { env: nowhere })).stderr.includes('\u001b'));
  });
});

test('exit code: run and wait speak of the job', () => {
  assert.equal(exitCodeOf({ status: 'done', exit_code: 0 }), 0);
  assert.equal(exitCodeOf({ status: 'failed', reason: 'exit', exit_code: 7 }), 7);
  assert.equal(exitCodeOf({ status: 'failed', reason: 'signal', signal: 'SIGKILL' }), 137);
  assert.equal(exitCodeOf({ status: 'failed', reason: 'timeout', signal: 'SIGTERM' }), 124);
  assert.equal(exitCodeOf({ status: 'failed', reason: 'fatal' }), 1);
  assert.equal(exitCodeOf({ status: 'failed', reason: 'lost' }), 125);
  assert.equal(exitCodeOf({ status: 'cancelled', reason: 'cancelled', signal: 'SIGTERM' }), 125);
});

test('exit code: each answer of the API has one', () => {
  const codes = [400, 401, 403, 404, 409, 413, 422, 429, 500, 503].map(exitCodeOfStatus);
  assert.deepEqual(codes, [2, 4, 4, 3, 5, 2, 2, 6, 1, 6]);
});

test('shell line: one argument as it is, several quoted', () => {
  assert.equal(commandOf(['echo $HOME | wc']), 'echo $HOME | wc');
  assert.equal(commandOf(['echo', '$HOME', "it's", '', 'a b', '--x=1']), `echo '$HOME' 'it'\\''s' '' 'a b' --x=1`);
});

test('table: columns align by what is seen, and are cut only where a width is given', () => {
  const columns = [
    { title: 'NAME', text: (row: string[]) => row[0] as string, flexible: true },
    { title: 'N', text: (row: string[]) => row[1] as string, align: 'right' as const },
  ];
  const rows = [
    ['日本語の名前です', '1'],
    ['ascii', '10'],
  ];
  assert.equal(renderTable(columns, rows), 'NAME               N\n日本語の名前です   1\nascii             10\n');
  assert.equal(renderTable(columns, rows, 14), 'NAME         N\n日本語の…    1\nascii       10\n');
  // Where even that is too wide, what is on the right goes.
  assert.equal(renderTable(columns, rows, 11), 'NAME      N\n日本語…   1\nascii     …\n');
  assert.equal(renderTable(columns, rows, 3), 'NA…\n日…\nas…\n');
});
