/** How the command line prints lists, progress and errors. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { clientCommand, dataText } from '../../src/cli/client-command.ts';
import { fieldName } from '../../src/cli/errors/failure.ts';
import { addJobFlags } from '../../src/cli/flags/job.ts';
import { withMovedFlags } from '../../src/cli/global-flags.ts';
import { progressText } from '../../src/cli/output/job.ts';
import { type Column, listText, renderTable } from '../../src/cli/output/table.ts';

type Row = [name: string, state: string, note: string];

const COLUMNS: readonly Column<Row>[] = [
  { title: 'NAME', text: ([name]) => name, flexible: true, identifies: true },
  { title: 'STATE', text: ([, state]) => state },
  { title: 'NOTE', text: ([, , note]) => note, flexible: true },
  { title: 'LONG NOTE', text: ([, , note]) => note.repeat(2), wide: true },
];
const [NAME, STATE, NOTE] = COLUMNS as [Column<Row>, Column<Row>, Column<Row>];
const ROWS: readonly Row[] = [
  ['business-hours-report', 'active', 'a note that is rather long'],
  ['business-hours-report-2', 'active', 'another one'],
];

test('table: a narrow terminal loses what is constant before what identifies', () => {
  const [title, first] = renderTable([NAME, STATE, NOTE], ROWS, 45).split('\n');
  assert.deepEqual([title, first], ['NAME                     NOTE', 'business-hours-report    a note that is rath…']);
  // What differs is cut, not left out.
  const other: Row[] = [ROWS[0] as Row, ['b', 'paused', '']];
  assert.match(
    renderTable([NAME, STATE, NOTE], other, 45),
    /^NAME +STATE +NOTE\nbusiness-hours-report {2}active {2}a note that/,
  );
});

test('table: an empty column goes first, and nothing goes while there is room', () => {
  const rows: Row[] = [['a-long-name-of-a-row', 'active', '']];
  assert.match(renderTable([NAME, STATE, NOTE], rows, 30), /^NAME +STATE\n/);
  assert.match(renderTable([NAME, STATE, NOTE], rows, 60), /^NAME +STATE +NOTE\n/);
});

test('table: a spare column goes before flexible ones are cut short', () => {
  const spare: Column<Row> = { title: 'TIME', text: ([name]) => `${name.length}s`, spare: true };
  assert.match(renderTable([NAME, spare, NOTE], ROWS, 80), /^NAME +TIME +NOTE\n/);
  assert.match(
    renderTable([NAME, spare, NOTE], ROWS, 48),
    /^NAME +NOTE\nbusiness-hours-report {4}a note that is rather …\n/,
  );
});

test('list: columns are chosen by name, wide ones only where they are asked for', () => {
  const output = { json: false, quiet: false, wide: false, columns: null } as const;
  const listing = { columns: COLUMNS, id: ([name]: Row) => name, none: 'nothing' };
  const titles = (more: object) =>
    listText(ROWS, listing, { ...output, ...more })
      .split('\n')[0]
      ?.split(/ {2,}/);
  assert.deepEqual(titles({}), ['NAME', 'STATE', 'NOTE']);
  assert.deepEqual(titles({ wide: true }), ['NAME', 'STATE', 'NOTE', 'LONG NOTE']);
  assert.deepEqual(titles({ columns: ['long-note', 'NAME'] }), ['LONG NOTE', 'NAME']);
  assert.throws(() => titles({ columns: ['sate'] }), { hint: 'did you mean state?' });
  assert.equal(listText([], listing, output), 'nothing\n');
  assert.equal(listText(ROWS, listing, { ...output, quiet: true }), 'business-hours-report\nbusiness-hours-report-2\n');
  assert.equal(
    listText([{ a: [1] }], { ...listing, id: () => '' } as never, { ...output, json: { as: 'yaml', fields: null } }),
    '- a:\n    - 1\n',
  );
  const states = [
    { name: 'a', state: 'open' },
    { name: 'b', state: null },
  ];
  const fields = (...names: string[]) => dataText(states, { as: 'json', fields: names });
  assert.deepEqual(JSON.parse(fields('state')), [{ state: 'open' }, { state: null }]);
  assert.throws(() => fields('name', 'sate'), { hint: 'did you mean state?' });
  assert.equal(listText([], listing, { ...output, json: { as: 'json', fields: ['sate'] } }), '[]\n');
  assert.deepEqual(titles({ columns: ['name', 'state'] }), ['NAME', 'STATE']);
});

test('progress: percent and text, without control characters', () => {
  assert.equal(progressText({ fraction: 0.379, text: 'step 22\nof 60' }), '37% step 22 of 60');
  assert.equal(progressText({ fraction: 1, text: null }), '100%');
});

test('global flags: they may come before the command, and never reach the command of a job', () => {
  const moved = (line: string) => withMovedFlags(line.split(' ')).join(' ');
  assert.equal(moved('--url http://x jobs -n 3'), 'jobs -n 3 --url http://x');
  assert.equal(moved('--url=http://x -o json schedule ls'), 'schedule ls --url=http://x -o json');
  assert.equal(moved('-q --url http://x run -- echo --json'), 'run -q --url http://x -- echo --json');
  assert.equal(moved('jobs --json'), 'jobs --json');
  assert.equal(moved('--version'), '--version');
  // bin/workron hides the secrets of servers, and looks for them after the command.
  assert.equal(moved('--token secret up'), '--token secret up');
});

test('global flags: all flags of a client command may come first', () => {
  for (const { long, short, required } of clientCommand('any', '').options) {
    for (const flag of [long, short].filter((name) => name != null)) {
      const value = required ? ['value'] : [];
      assert.deepEqual(withMovedFlags([flag, ...value, 'any']), ['any', flag, ...value]);
    }
  }
});

test('errors: fields have the names of the flags that set them', () => {
  const command = addJobFlags(new Command('submit').option('--file <FILE>'));
  const names = [
    '/priority',
    '/max_attempts',
    '/env/A B',
    '/tags/0',
    '/run_at',
    '/unique/key',
    '/command',
    '/nonsense',
  ];
  assert.deepEqual(
    names.map((pointer) => fieldName(pointer, command)),
    ['--priority', '--max-attempts', '--env A B', '--tag', '--run-at', '--unique', 'the command', '/nonsense'],
  );
  command.parse(['--file', 'jobs.json'], { from: 'user' });
  assert.equal(fieldName('/priority', command), '/priority');
  const add = clientCommand('add', 'Create a schedule').argument('<name>');
  assert.deepEqual([fieldName('/name', add), fieldName('/job/name', add)], ['the name', '/job/name']);
});
