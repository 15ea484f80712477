/** Completion in shells, and the examples in help texts. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Command } from 'commander';
import { EXAMPLES } from '../../src/cli/examples.ts';
import { createProgram } from '../../src/cli/program.ts';
import { callWorkron, plainEnvironment } from '../kit/command-line.ts';
import { api, startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

const stack = new AsyncDisposableStack();
let server: WorkronProcess;

before(async () => {
  const folder = stack.use(await temporaryFolder()).path;
  const args = ['up', '--port', '0', '--db-url', join(folder, 'jobs.db'), '--log-level', 'warn'];
  server = stack.use(await startWorkron({ args }));
  await api(server.url, '/schedules', { name: 'nightly', cron: '@daily', job: { command: 'true' } });
  await api(server.url, '/jobs', { command: 'true', queue: 'mail', delay: '1h' });
  await callWorkron(['run', '--queue', 'reports', '--', 'true'], { env: { WORKRON_URL: server.url } });
});
after(() => stack.disposeAsync());

/** `null`: the shell offers files. */
async function completed(...words: string[]): Promise<string[] | null> {
  const { code, stdout } = await callWorkron(['__complete', ...words], { env: { WORKRON_URL: server.url } });
  if (code === 1 && stdout === '') return null;
  assert.equal(code, 0);
  return stdout.split('\n').flatMap((line) => line.split('\t')[0] || []);
}

test('completion: commands, flags, values of flags, and what is on the server', async () => {
  assert.deepEqual(await completed('jo'), ['jobs', 'job']);
  assert.deepEqual(await completed('workflow', 're'), ['retry', 'rerun']);
  assert.deepEqual(await completed('jobs', '--statu'), ['--status']);
  assert.deepEqual(await completed('jobs', '--status', 'f'), ['failed']);
  assert.deepEqual(await completed('jobs', '-o', ''), ['table', 'wide', 'json', 'yaml']);
  assert.deepEqual(await completed('jobs', '--queue', ''), ['mail', 'reports'], 'also one that has just become idle');
  assert.deepEqual(await completed('jobs', '--queue=r'), ['--queue=reports']);
  assert.deepEqual(await completed('--url', server.url, 'jobs', '--queue', 'm'), ['mail']);
  assert.deepEqual(await completed('schedule', 'show', 'n'), ['nightly']);
  assert.deepEqual(await completed('schedule', 'next', 'nightly', ''), [], 'it takes one name');
  assert.deepEqual(await completed('logs', ''), ['2', '1']);
  assert.deepEqual(await completed('nonsense', ''), []);
  for (const words of [
    ['run', '--', ''],
    ['apply', ''],
    ['workflow', 'run', './'],
    ['up', '--config', ''],
  ]) {
    assert.equal(await completed(...words), null, `a file may follow ${words.join(' ')}`);
  }
  const env = { XDG_CONFIG_HOME: stack.use(await temporaryFolder()).path };
  await callWorkron(['config', 'set', 'prod', '--url', server.url], { env });
  for (const words of [
    ['config', 'use', 'p'],
    ['jobs', '--profile', ''],
  ]) {
    assert.equal((await callWorkron(['__complete', ...words], { env })).stdout, `prod\t${server.url}\n`);
  }
  const { stdout } = await callWorkron(['__complete', 'logs', '--url', server.url, '']);
  assert.equal(stdout, '2\tdone true\n1\tscheduled true\n');
  const nobody = await callWorkron(['__complete', 'logs', ''], { env: { WORKRON_URL: 'http://127.0.0.1:59' } });
  assert.deepEqual([nobody.code, nobody.stdout, nobody.stderr], [0, '', '']);
});

function inShell(shell: string, script: string): string[] {
  const bin = join(import.meta.dirname, '..', '..', 'bin');
  const env = plainEnvironment({ WORKRON_URL: server.url, PATH: `${bin}:${process.env['PATH']}` });
  const { stdout, stderr } = spawnSync(shell, ['-c', script], { env, encoding: 'utf8' });
  return [stdout, stderr];
}

test('completion: bash completes with the script', () => {
  const inBash = (line: string): string[] =>
    inShell(
      'bash',
      `source <(workron completion bash); COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; _workron; echo "\${COMPREPLY[@]}"`,
    );
  assert.deepEqual(inBash('workron schedule show nigh'), ['nightly\n', '']);
  assert.deepEqual(inBash(`workron --url ${server.url} queues show `), ['mail reports\n', '']);
  // Bash replaces only what follows the "=".
  assert.deepEqual(inBash('workron jobs --queue=re'), ['reports\n', '']);
});

/** Options of a test that needs a shell that not every machine has. */
function needs(shell: string): { skip: false | string } {
  return { skip: spawnSync(shell, ['--version']).error === undefined ? false : `${shell} is not installed` };
}

test('completion: zsh completes with the script', needs('zsh'), () => {
  // Zsh completes only at a terminal. The key prints the line that it made, after the values that it offers.
  const inZsh = (line: string): string => {
    const [seen = ''] = inShell(
      'zsh',
      `export SETUP='autoload -U compinit; compinit -D; source <(workron completion zsh)
tab() { zle expand-or-complete; zle -R; print -r -- "<$BUFFER>"; exit }; zle -N tab; bindkey "^I" tab'
zmodload zsh/zpty; zpty shell zsh -f -i; zpty -w shell 'eval $SETUP'; zpty -w -n shell '${line}'$'\t'
zpty -r shell seen '*<*>'; print -r -- $seen`,
    );
    return seen;
  };
  assert.match(inZsh('workron schedule show nigh'), /<workron schedule show nightly >/);
  assert.match(
    inZsh(`workron --url ${server.url} queues show `),
    /\b(mail +reports|reports +mail) +-- 0 pending[^]*<workron/,
  );
  assert.match(inZsh('workron jobs --queue=re'), /<workron jobs --queue=reports >/);
  assert.match(inZsh('workron apply package.js'), /<workron apply package.json >/, 'a file may follow');
});

test('completion: fish completes with the script', needs('fish'), () => {
  // Fish complains on stderr about a home that it cannot write to.
  const inFish = (line: string) => inShell('fish', `workron completion fish | source; complete -C '${line}'`)[0];
  assert.equal(inFish('workron schedule show nigh'), 'nightly\tAt 00:00\n');
  assert.equal(inFish('workron queues show '), 'mail\t0 pending\nreports\t0 pending\n');
});

test('help: every command has at least two examples that the command line takes', async () => {
  const program = await createProgram();
  const paths: string[] = [];
  const visit = (command: Command, path: string[]): void => {
    if (path.length > 0) paths.push(path.join(' '));
    command.action(() => undefined);
    for (const child of command.commands) visit(child, [...path, child.name()]);
  };
  visit(program, []);
  assert.deepEqual(Object.keys(EXAMPLES).toSorted(), paths.toSorted());
  for (const [path, lines] of Object.entries(EXAMPLES)) {
    assert.ok(lines.length >= 2, path);
    for (const line of lines) {
      const own = /(?:^|[(|] ?)(workron .*?)\)?(?:" http.*)?(?: [<>] .*)?$/.exec(line)?.[1] ?? '';
      const { stdout } = spawnSync('sh', ['-c', `set -- ${own.replace(/^workron /, '')}; printf '%s\\n' "$@"`], {
        encoding: 'utf8',
      });
      const args = stdout.trimEnd().split('\n');
      assert.ok(args.join(' ').startsWith(path.replace('workflow definitions', 'workflow')), `${path}: ${line}`);
      if (args.includes('--help')) continue;
      const called = await createProgram();
      visit(called, []);
      await assert.doesNotReject(called.parseAsync(args, { from: 'user' }), line);
    }
  }
});

test('help: lines fit 80 columns, except for a value that is longer than its column', async () => {
  const program = await createProgram();
  const long: string[] = [];
  const visit = (command: Command): void => {
    let text = '';
    command.configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => 80 }).outputHelp();
    long.push(...text.split('\n').filter((line) => line.length > 80 && /\S \S/.test(line)));
    command.commands.forEach(visit);
  };
  visit(program);
  assert.deepEqual(long, []);
});

test('help: the flags of a command come before those that all have, then its examples; where to find the rest is last', async () => {
  const { stdout } = await callWorkron(['logs', '--help']);
  const places = ['--follow', '--output', 'Examples:', 'workron help connection'].map((text) => stdout.indexOf(text));
  assert.ok(places[0]! > 0, stdout);
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
  assert.ok(!/^ +--url/m.test(stdout), stdout);
});

test('version, open: print versions, and the address of the dashboard', async () => {
  assert.match((await callWorkron(['version'])).stdout, /^workron \d+\.\d+\.\d+, Node \d+/);
  const opened = await callWorkron(['open', '12'], { env: { WORKRON_URL: 'http://127.0.0.1:59' } });
  assert.deepEqual([opened.code, opened.stdout], [0, 'http://127.0.0.1:59/ui/jobs/12\n']);
});
