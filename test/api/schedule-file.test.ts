/** Schedule files: what is wrong with them is told with its place. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Document } from 'yaml';
import { readScheduleFile, scheduleJsonSchema } from '../../src/api/schedule-file.ts';
import { readCrontab } from '../../src/cli/input/crontab.ts';

const root = join(import.meta.dirname, '..', '..');
const NOW = Date.UTC(2026, 10, 15);

const problems = (text: string): string[] =>
  readScheduleFile(text, NOW).problems.map(({ line, column, message }) => `${line}:${column} ${message}`);

/** A schedule in a file, with further lines. */
const schedule = (...lines: string[]): string =>
  ['schedules:', '  - name: a', '    job: {command: x}', ...lines.map((line) => `    ${line}`), ''].join('\n');

test('schema: the published file of schedules is what the code accepts', () => {
  const published = JSON.parse(readFileSync(join(root, 'schema/schedules.schema.json'), 'utf8')) as unknown;
  assert.deepEqual(published, scheduleJsonSchema(), 'write it anew: ./bin/workron schedule schema > schema/…');
});

test('schedule file: valid content is returned unchanged', () => {
  const text = schedule('cron: "0 2 * * *"', 'timezone: Europe/Berlin', 'jitter: 10m');
  const { file, problems: none } = readScheduleFile(`owner: me\n${text}`, NOW);
  assert.deepEqual(none, []);
  const expected = { name: 'a', job: { command: 'x' }, cron: '0 2 * * *', timezone: 'Europe/Berlin', jitter: '10m' };
  assert.deepEqual(file, { owner: 'me', schedules: [expected] });
});

test('schedule file: errors have line, column and a remedy', () => {
  assert.deepEqual(problems(''), ['1:1 the file is empty: expected schedules']);
  assert.deepEqual(problems('schedule: []'), ['1:1 unknown key "schedule" (did you mean "schedules"?)']);
  assert.deepEqual(problems(schedule('cron: */5 * * * *')), ['4:11 write the expression in quotes: "*/5 * * * *"']);
  assert.match(problems(schedule('cron: "0 25 * * *"'))[0] ?? '', /^4:11 cron: hour: expected 0–23/);
  assert.match(problems(schedule('cron: "0 0 31 2 *"'))[0] ?? '', /^4:11 cron: .*never fires/);
  assert.match(
    problems(schedule('cron: "0 2 * * *"', 'timezone: Europe/Berln'))[0] ?? '',
    /^5:15 timezone: .*did you mean Europe\/Berlin/,
  );
  assert.match(problems(schedule('evry: 5m'))[0] ?? '', /^4:5 unknown key "evry" \(did you mean "every"\?\)/);
  assert.deepEqual(problems(schedule()), ['2:5 expected exactly one of cron and every']);
  assert.match(problems(schedule('every: 5m', 'owner: me'))[0] ?? '', /^5:5 unknown key "owner"/);
  assert.match(problems(schedule('every: 5m', 'anchor: tomorrow'))[0] ?? '', /^5:13 anchor: expected an instant/);
  const twice = 'schedules:\n- {name: a, every: 5m, job: {command: x}}\n- {name: a, every: 5m, job: {command: x}}\n';
  assert.deepEqual(problems(twice), ['3:10 name: "a" is already used above']);
});

test('schedule file: what a server finds wrong is found in the text by its pointer', () => {
  const { locate } = readScheduleFile(schedule('every: 5m', 'overlap: allow'), NOW);
  const { line, column, message } = locate('/schedules/0/overlap', 'no');
  assert.deepEqual([line, column, message], [5, 14, 'no']);
  assert.deepEqual([locate('/schedules/0/nothing/x', 'no').line, locate('', 'no').line], [2, 1]);
});

test('schedule file: what `import crontab` prints can be applied as it is', () => {
  const crontab =
    'CRON_TZ=Europe/Berlin\nA=b\n*/5 * * * * /bin/report %in\n0 2 * * 1-5 cd /x && ./y "z" \\% w\n@daily true\n';
  const { imported, refused } = readCrontab(crontab, { timezone: 'UTC', system: false, homeOf: () => '/home/ana' });
  assert.deepEqual([imported.length, refused.length], [3, 0]);
  const text = new Document({ schedules: imported.map(({ schedule: each }) => each) }).toString();
  const { file } = readScheduleFile(text, NOW);
  assert.deepEqual(
    file?.schedules,
    imported.map(({ schedule: each }) => each),
  );
});

test('schedule file: the one in the docs is right', () => {
  const docs = readFileSync(join(root, 'docs/schedules.md'), 'utf8');
  const [, text = ''] = /^```yaml\n(.*?)^```/ms.exec(docs) ?? [];
  assert.deepEqual(problems(text), []);
});
