/** `schedule test` and `import crontab`: commands that need no server. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { describeCron } from '../../src/api/describe-schedule.ts';
import { type CrontabOptions, readCrontab } from '../../src/cli/input/crontab.ts';
import { shellLineOf } from '../../src/cli/input/crontab-command.ts';
import { callHosted } from '../kit/hosted-calls.ts';
import { temporaryFolder } from '../kit/workron-process.ts';

const berlin = ['--timezone', 'Europe/Berlin'];

describe('schedule test', { concurrency: 2 }, () => {
  test('schedule test: words, the rule, and the ticks in zone and UTC with clock changes flagged', async () => {
    const args = ['schedule', 'test', '30 2 * * *', ...berlin, '--from', '2026-03-28T00:00Z', '--count', '3'];
    const { code, stdout } = await callHosted(args);
    assert.equal(code, 0);
    assert.deepEqual(stdout.split('\n'), [
      'At 02:30, Europe/Berlin',
      'DST: skipped times fire right after the gap; repeated times fire once',
      '',
      'EUROPE/BERLIN                   UTC                   CLOCK',
      'Sat 2026-03-28 02:30:00 +01:00  2026-03-28T01:30:00Z',
      'Sun 2026-03-29 03:00:00 +02:00  2026-03-29T01:00:00Z  the clock has just gone forward',
      'Mon 2026-03-30 02:30:00 +02:00  2026-03-30T00:30:00Z',
      '',
    ]);
  });

  test('schedule test: --from itself is listed, a repeated hour is flagged on each of its ticks', async () => {
    const args = ['schedule', 'test', '0 * * * *', ...berlin, '--from', '2026-10-25T00:00Z', '--count', '3', '--json'];
    const { stdout } = await callHosted(args);
    assert.deepEqual(JSON.parse(stdout), {
      cron: '0 * * * *',
      timezone: 'Europe/Berlin',
      description: 'Every hour',
      clock_rule: 'wildcard',
      items: [
        {
          at: '2026-10-25T00:00:00.000Z',
          local: '2026-10-25T02:00:00+02:00',
          note: 'the clock shows this twice: the first time',
        },
        {
          at: '2026-10-25T01:00:00.000Z',
          local: '2026-10-25T02:00:00+01:00',
          note: 'the clock shows this twice: the second time',
        },
        { at: '2026-10-25T02:00:00.000Z', local: '2026-10-25T03:00:00+01:00', note: null },
      ],
    });
  });

  test('schedule test: a change between two ticks is flagged on the second', async () => {
    const args = [
      'schedule',
      'test',
      '@daily',
      ...berlin,
      '--from',
      '2026-10-25T00:00+02:00',
      '--count',
      '2',
      '--json',
    ];
    const { items } = JSON.parse((await callHosted(args)).stdout) as { items: { note: string | null }[] };
    assert.deepEqual(
      items.map(({ note }) => note),
      [null, 'the clock has changed from +02:00 to +01:00'],
    );
  });

  test('schedule test: malformed, never firing, and unknown zones end with 2 and say why', async () => {
    const wrong: [string[], RegExp][] = [
      [['0 25 * * *'], /^error: cron: hour: expected 0–23, got "25"\n$/],
      [['0 0 31 2 *'], /never fires/],
      [['* 2 * 3 SUN#2', '--timezone', 'America/New_York', '--from', '2026-01-01T00:00Z'], /never fires/],
      [['@daily', '--timezone', 'Europe/Berlni'], /did you mean Europe\/Berlin\?/],
      [['@daily', '--count', '0'], /--count/],
      [['@daily', '--from', 'soon'], /expected an instant/],
    ];
    for (const [args, message] of wrong) {
      const { code, stdout, stderr } = await callHosted(['schedule', 'test', ...args]);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.match(stderr, message);
    }
    const { stderr } = await callHosted(['schedule', 'test', '0 0 31 2 *', '--json']);
    assert.equal((JSON.parse(stderr) as { code: string }).code, 'schedule_invalid');
  });

  test('describe: words for every kind, none where there are none, either day said', () => {
    assert.equal(describeCron('0 0 * * fri#l'), 'At 00:00, on the last Friday of the month');
    assert.equal(describeCron('@weekly'), 'At 00:00, only on Sunday');
    assert.equal(describeCron('0 0 1W,15W * *'), null);
    assert.match(describeCron('0 0 13 * FRI') ?? '', /\(days that match either\)$/);
  });
});

const user: CrontabOptions = {
  timezone: 'Europe/Berlin',
  system: false,
  homeOf: (name) => (name === undefined ? '/home/ana' : name === 'root' ? '/root' : null),
};
const imported = (text: string, options = user) => readCrontab(text, options).imported;

/** A schedule that does what cron does. */
function asCron(schedule: object, job: object): object {
  return {
    timezone: 'Europe/Berlin',
    overlap: 'allow',
    catchup: { policy: 'none' },
    ...schedule,
    job: { cwd: '/home/ana', timeout: '24h', max_attempts: 1, env: { PATH: '/usr/bin:/bin' }, ...job },
  };
}

test('crontab: settings hold for the lines below them, those of cron itself reach no job', () => {
  const text = [
    'MAILTO=ops@example.org',
    '*/5 * * * * /opt/a.sh',
    'GREETING = "hello world"',
    'CRON_TZ=America/New_York',
    '0 2 * * 1-5 /opt/b.sh --all',
    'CRON_TZ=',
    "TZ=':Asia/Tokyo'",
    '@daily /opt/a.sh',
  ].join('\n');
  assert.deepEqual(
    imported(text).map(({ schedule }) => schedule),
    [
      asCron({ name: 'a', cron: '*/5 * * * *' }, { command: '/opt/a.sh' }),
      asCron(
        { name: 'b', cron: '0 2 * * 1-5', timezone: 'America/New_York' },
        { command: '/opt/b.sh --all', env: { PATH: '/usr/bin:/bin', GREETING: 'hello world' } },
      ),
      asCron(
        { name: 'a-2', cron: '@daily', timezone: 'Asia/Tokyo' },
        { command: '/opt/a.sh', env: { PATH: '/usr/bin:/bin', GREETING: 'hello world', TZ: ':Asia/Tokyo' } },
      ),
    ],
  );
});

test('crontab: with --system the user is separated from the command', () => {
  const [line] = imported('17 * * * * root cd / && run-parts /etc/cron.hourly', { ...user, system: true });
  const { command, cwd } = line?.schedule.job ?? {};
  assert.deepEqual([command, cwd], ['cd / && run-parts /etc/cron.hourly', '/root']);
  assert.equal(line?.schedule.name, 'run-parts-cron.hourly');
  const [unknown] = imported('17 * * * * nobody-here x', { ...user, system: true });
  assert.equal(unknown?.schedule.job.cwd, undefined);
  assert.deepEqual(line?.notes, ['cron runs this as root; Workron as the user of the worker']);
});

test('crontab: names are valid and unique whatever the command is', () => {
  const commands = ['cd /srv && ./Run_It.sh', 'A=1 B=2 /usr/bin/env x', '"/opt/my tool"', '%', '/opt/Run_It.sh; true'];
  const scripts = [
    'python3 -u /opt/app/sync.py --all',
    'flock -n /tmp/x.lock /usr/local/bin/report --daily',
    'find /var/tmp -mtime +7 -delete > /dev/null',
    'nice -n 19 ionice -c 3 tar czf /backup/home.tgz /home',
    "sudo -u bob timeout 10m bash -c 'echo x'",
    '[ -x /usr/sbin/anacron ] && /opt/Nightly.pl',
    'python3 -m http.server',
    'flock',
  ];
  const names = imported(commands.map((command) => `0 0 * * * ${command}`).join('\n')).map(
    ({ schedule }) => schedule.name,
  );
  assert.deepEqual(names, ['run_it', 'x', 'my', 'job', 'run_it-2']);
  assert.deepEqual(
    imported(scripts.map((command) => `0 0 * * * ${command}`).join('\n')).map(({ schedule }) => schedule.name),
    ['sync', 'report', 'find-tmp', 'tar-home.tgz', 'echo', 'nightly', 'http.server', 'flock'],
  );
});

test('crontab: output that goes to a file is pointed out, and comes to Workron if the redirection is dropped', () => {
  const lines = {
    '/opt/a.sh >> /var/log/a.log 2>&1': ['/var/log/a.log', '/opt/a.sh'],
    'a > /dev/null 2>&1': ['/dev/null', 'a'],
    'a &> "/tmp/my log"': ['"/tmp/my log"', 'a'],
    'a 2> /dev/null': [null, 'a 2> /dev/null'],
    'a 2>&1 | logger': [null, 'a 2>&1 | logger'],
    'echo "a > b"': [null, 'echo "a > b"'],
    'a > out; b': [null, 'a > out; b'],
  };
  const text = Object.keys(lines)
    .map((command) => `0 0 * * * ${command}`)
    .join('\n');
  assert.deepEqual(
    imported(text).map(({ writesTo }) => writesTo),
    Object.values(lines).map(([file]) => file),
  );
  const dropped = imported(text, { ...user, dropRedirects: true });
  assert.deepEqual(
    dropped.map(({ schedule }) => schedule.job.command),
    Object.values(lines).map(([, command]) => command),
  );
  assert.deepEqual(
    dropped.map(({ writesTo }) => writesTo),
    lines && Object.keys(lines).map(() => null),
  );
});

test('crontab: SHELL runs only what sh would read otherwise, and is a variable of the command, as with cron', () => {
  const text = 'SHELL=/bin/bash\n0 0 * * * /opt/a.sh "$HOME" | wc\n0 0 * * * [[ -f x ]] && diff <(a) <(b)\n';
  const [plain, own] = imported(text).map(({ schedule }) => schedule.job);
  assert.deepEqual([plain?.command, plain?.env['SHELL']], ['/opt/a.sh "$HOME" | wc', '/bin/bash']);
  assert.equal(own?.command, "/bin/bash -c '[[ -f x ]] && diff <(a) <(b)'");
  const [fish] = imported('SHELL=/usr/bin/fish\n0 0 * * * set x 1; a\n');
  assert.equal(fish?.schedule.job.command, "/usr/bin/fish -c 'set x 1; a'");
});

test('crontab: a stepped star in one of two day fields is pointed out, as cron means both there', () => {
  assert.match(imported('0 0 */2 * MON x')[0]?.notes[0] ?? '', /either/);
  assert.deepEqual(imported('0 0 1 * MON x')[0]?.notes, []);
  assert.deepEqual(imported('0 0 */2 * * x')[0]?.notes, []);
});

test('crontab: what cannot be imported is refused with its line and reason, the rest goes on', () => {
  const { imported, refused } = readCrontab('@reboot x\n0 25 * * * y\n* * *\n0 0 * * * z\n', user);
  assert.deepEqual(
    refused.map(({ line, reason, wrong }) => [line, reason.split(';')[0], wrong]),
    [
      [1, '@reboot has no schedule', false],
      [2, 'cron: hour: expected 0–23, got "25"', true],
      [3, 'expected five fields or a macro, and a command', true],
    ],
  );
  assert.equal(imported[0]?.line, 4);
});

/** What a shell makes of the command of a crontab line. */
function outputOf(text: string, shell?: string): string {
  return spawnSync('sh', ['-c', shellLineOf(text, shell)], { encoding: 'utf8', input: '' }).stdout;
}

test('crontab: what follows the first percent sign is the input, further ones are new lines', () => {
  assert.equal(outputOf("cat # all%it's%two"), "it's\ntwo\n");
  assert.equal(outputOf('echo 100\\%; cat%50\\%'), '100%\n50%\n');
  assert.equal(outputOf('cat%INPUT%$HOME%'), 'INPUT\n$HOME\n');
  assert.equal(shellLineOf('cat \\\\%x'), "{ cat \\\\\n} <<'INPUT'\nx\nINPUT");
  assert.equal(outputOf('cat%'), '');
  assert.equal(outputOf("[[ 1 == 1 ]] && echo 'it is' $0", '/bin/bash').trimEnd(), 'it is /bin/bash');
});

test('import crontab: prints YAML for review, from a file or stdin, and ends with 1 only where a line is wrong', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'crontab');
  const text = '0 2 * * * mail joe%Hello%World\n@reboot x\n0 3 * * * a > b\n';
  await writeFile(file, text);
  const fromFile = await callHosted(['import', 'crontab', file, ...berlin]);
  const fromStdin = await callHosted(['import', 'crontab', '-', ...berlin], { input: text });
  assert.equal(fromFile.code, 0);
  assert.match(
    fromFile.stderr,
    /^line 2 is not imported: @reboot.*\nline 3 writes its output to files, .*--drop-redirects/,
  );
  assert.match(fromFile.stdout, /^# These schedules do what cron did/);
  assert.match(fromFile.stdout, / max_attempts: 1 # as cron; 3 retries failures\n/);
  assert.match(fromFile.stdout, / catchup: \{ policy: none \} # as cron; /);
  assert.equal(fromStdin.stdout, fromFile.stdout);
  assert.deepEqual(parse(fromFile.stdout), {
    schedules: [
      {
        ...asCron({ name: 'mail', cron: '0 2 * * *' }, {}),
        job: {
          ...(asCron({}, {}) as { job: object }).job,
          command: "{ mail joe\n} <<'INPUT'\nHello\nWorld\nINPUT",
          cwd: homedir(),
        },
      },
      {
        ...asCron({ name: 'a', cron: '0 3 * * *' }, {}),
        job: { ...(asCron({}, {}) as { job: object }).job, command: 'a > b', cwd: homedir() },
      },
    ],
  });
  const wrong = await callHosted(['import', 'crontab', '-'], { input: '0 25 * * * x\n' });
  assert.deepEqual([wrong.code, wrong.stderr.split(':')[0]], [1, 'line 1 is not imported']);
  assert.equal((await callHosted(['import', 'crontab', join(folder.path, 'none')])).code, 2);
});
