/** `workron workflow lint`, `show` and `schema`, with nothing running. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readWorkflowFile, workflowJsonSchema } from '../../src/api/workflow/file.ts';
import { callWorkron } from '../kit/command-line.ts';
import { callHosted } from '../kit/hosted-calls.ts';
import { temporaryFolder } from '../kit/workron-process.ts';

const root = join(import.meta.dirname, '..', '..');
const examples = globSync('examples/*.yaml', { cwd: root }).sort();

const DIAMOND = `name: diamond
steps:
  a: {command: x}
  b: {command: x, depends_on: a, for_each: [1, 2]}
  c: {command: x, depends_on: a, continue_on_failure: true}
  d: {command: x, depends_on: [b, c], if: ended}
`;

test('schema: the published file is what the code accepts', () => {
  const published = JSON.parse(readFileSync(join(root, 'schema/workflow.schema.json'), 'utf8')) as unknown;
  assert.deepEqual(
    published,
    workflowJsonSchema(),
    'write it anew: ./bin/workron workflow schema > schema/workflow.schema.json',
  );
});

test('examples: there are three, and nothing is to be said against them', () => {
  assert.equal(examples.length, 3);
  for (const file of examples) {
    const text = readFileSync(join(root, file), 'utf8');
    const { definition, problems } = readWorkflowFile(text);
    assert.deepEqual(problems, [], file);
    assert.equal(`examples/${definition?.name}.yaml`, file);
    assert.match(text, /^# yaml-language-server: \$schema=\.\.\/schema\/workflow\.schema\.json\n/);
  }
});

describe('workflow commands', { concurrency: 2 }, () => {
  test('lint: files in order are ok with 0 and a line each', async () => {
    const { code, stdout, stderr } = await callWorkron(['workflow', 'lint', ...examples], { cwd: root });
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(
      stdout,
      'examples/build-test-deploy.yaml: ok, 7 steps, 3 parameters\nexamples/nightly-report.yaml: ok, 6 steps, 3 parameters\nexamples/process-files.yaml: ok, 3 steps, 2 parameters\n',
    );
  });

  test('lint: an error is shown with its place, its line and a caret, and ends with 2; warnings alone end with 0', async () => {
    await using folder = await temporaryFolder();
    const wrong = 'name: etl\nsteps:\n  extract:\n    rn: echo hi\n    command: echo\n';
    await writeFile(join(folder.path, 'etl.yaml'), wrong);
    await writeFile(join(folder.path, 'warn.yaml'), 'name: x\nsteps: {a: {command: echo $WORKRON_ITEM}}\n');
    const failed = await callHosted(['workflow', 'lint', 'etl.yaml', 'warn.yaml'], { cwd: folder.path });
    assert.equal(failed.code, 2);
    const [first, second] = failed.stdout.split('warn.yaml:2:22 warning: ');
    assert.match(
      first as string,
      /^etl\.yaml:4:5 error: unknown key "rn" \(did you mean "command"\?\)\n {2}4 \| {5}rn: echo hi\n {4}\| {5}\^\^\n$/,
    );
    assert.match(second as string, /^WORKRON_ITEM is set only.*warn\.yaml: ok, 1 step\n$/s);
    assert.equal((await callHosted(['workflow', 'lint', 'warn.yaml'], { cwd: folder.path })).code, 0);
    const json = await callHosted(['workflow', 'lint', '--json', '-'], { input: wrong });
    assert.equal(json.code, 2);
    const [report] = JSON.parse(json.stdout) as [
      { file: string; ok: boolean; problems: { line: number; column: number }[] },
    ];
    assert.deepEqual(
      [report.file, report.ok, report.problems[0]?.line, report.problems[0]?.column],
      ['stdin', false, 4, 5],
    );
    const input = `name: x\nsteps: {a: {command: x}}\n${Array.from({ length: 150 }, (_, place) => `k${place}: 1\n`).join('')}`;
    assert.match((await callHosted(['workflow', 'lint', '-'], { input })).stdout, /\nstdin: and 50 more\n$/);
  });

  test('lint: the caret is below its place after tabs and wide characters; control characters do nothing', async () => {
    const { stdout } = await callHosted(['wf', 'lint', '-'], {
      input: 'name: x\n"日本\t\u001b[31m": 1\nsteps: {a: {command: x}}\n',
    });
    assert.ok(!stdout.includes('\u001b'));
    const { stdout: wide } = await callHosted(['wf', 'lint', '-'], {
      input: 'name: x\nsteps: {a: {name: 日本, command: [x]}}\n',
    });
    const [, line, caret] = wide.split('\n') as [string, string, string];
    // Two characters take four columns.
    assert.equal(caret.indexOf('^'), line.indexOf('[x]') + 2);
  });

  test('lint: a missing file is 2, and so is one that is no text', async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'binary.yaml'), new Uint8Array([0xff, 0xfe, 0x00]));
    const missing = await callHosted(['workflow', 'lint', 'nowhere.yaml'], { cwd: folder.path });
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /^error: cannot read nowhere\.yaml: no such file or directory\n$/);
    const binary = await callHosted(['workflow', 'lint', 'binary.yaml'], { cwd: folder.path });
    assert.equal(binary.code, 2);
    assert.match(binary.stderr, /^error: binary\.yaml is not UTF-8 text/);
  });

  test('show: lists the steps of a file, after which others they run, and their conditions', async () => {
    const { code, stdout } = await callHosted(['workflow', 'show', '-'], { input: DIAMOND });
    assert.equal(code, 0);
    assert.match(stdout, /^diamond\n\nSTEP +AFTER +NOTES +TIMEOUT +RUNS\n/);
    assert.match(stdout, /^b +a +for each of 2 /m);
    assert.match(stdout, /^c +a +may fail /m);
    assert.match(stdout, /^d +b, c +if ended /m);
  });

  test('show: Mermaid, Graphviz and JSON', async () => {
    const mermaid = await callHosted(['workflow', 'show', '--mermaid', '-'], { input: DIAMOND });
    assert.equal(
      mermaid.stdout,
      'flowchart TD\n  s1["a"]\n  s2[["b<br>for each of 2"]]\n  s3["c<br>may fail"]\n  s4["d<br>if ended"]\n  s1 --> s2\n  s1 --> s3\n  s2 -. ended .-> s4\n  s3 -. ended .-> s4\n',
    );
    const dot = await callHosted(['workflow', 'show', '--dot', '-'], { input: DIAMOND });
    assert.match(
      dot.stdout,
      /^digraph "diamond" \{\n.* {2}"a" -> "b";\n.* {2}"c" -> "d" \[style=dashed, label="ended"\];\n\}\n$/s,
    );
    const json = await callHosted(['workflow', 'show', '--json', '-'], { input: DIAMOND });
    assert.deepEqual(JSON.parse(json.stdout), readWorkflowFile(DIAMOND).definition);
    assert.equal((await callHosted(['workflow', 'show', '--dot', '--mermaid', '-'], { input: DIAMOND })).code, 2);
  });

  test('show: a file that is not valid is explained on stderr and ends with 2', async () => {
    const { code, stdout, stderr } = await callHosted(['workflow', 'show', '-'], {
      input: 'name: x\nsteps: {a: {comand: x}}\n',
    });
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^stdin:2:13 error: unknown key "comand".*error: stdin is not a valid workflow/s);
  });

  test('schema: is printed as published', async () => {
    const { stdout } = await callHosted(['workflow', 'schema']);
    assert.equal(stdout, readFileSync(join(root, 'schema/workflow.schema.json'), 'utf8'));
  });
});
