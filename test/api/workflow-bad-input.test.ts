/** Every malformed workflow file gets line, column and what was expected. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readWorkflowFile } from '../../src/api/workflow/file.ts';

/** `«` stands before the place that must be named; it is not part of the file. */
type Case = [name: string, marked: string, message: RegExp];

function check([name, marked, message]: Case, severity: 'error' | 'warning'): void {
  test(name, () => {
    const offset = marked.indexOf('«');
    assert.ok(offset >= 0, 'the case marks its place');
    const before = marked.slice(0, offset).split('\n');
    const { definition, problems } = readWorkflowFile(marked.replace('«', ''));
    const found = problems.map(
      (problem) => `${problem.line}:${problem.column} ${problem.severity}: ${problem.message}`,
    );
    const place = `${before.length}:${(before.at(-1) as string).length + 1} ${severity}: `;
    assert.ok(
      found.some((text) => text.startsWith(place) && message.test(text.slice(place.length))),
      `expected ${place}${message}, got\n${found.join('\n')}`,
    );
    assert.equal(definition === null, severity === 'error');
    assert.equal(problems.length, 1, found.join('\n'));
  });
}

const steps = 'steps: {a: {command: x}}';

const MALFORMED: Case[] = [
  ['an empty file', '«', /^the file is empty: expected name and steps$/],
  ['a file of comments', '«# nothing\n', /^the file is empty/],
  ['a text', '«hello', /^expected a map, got "hello"$/],
  ['a list', '«[1]', /^expected a map, got a list$/],
  ['a tab', 'name: x\nsteps:\n«\t- a\n', /^tabs are not allowed as indentation$/],
  ['a quote that does not end', 'name: "x\n«', /^missing closing " quote$/],
  ['JSON with a comma too many', '{"name": "x",«, "steps": {}}', /^unexpected , in flow map$/],
  ['a second document', 'name: x\n«---\nname: y\n', /^expected one document, found a second one$/],
  ['a key twice', `name: x\n«name: y\n${steps}`, /^duplicate key "name"$/],
  ['an alias without an anchor', 'name: x\nsteps: «*s\n', /^there is no anchor &s before this$/],
  ['an unknown tag', 'name: x\nsteps: {a: {command: «!foo x}}', /^unknown tag !foo$/],
  ['a list as key', 'name: x\nsteps: {? «[a] : {command: x}}', /^expected a plain name as key$/],
  [
    'aliases of aliases',
    '«a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c]\n',
    /^too many aliases$/,
  ],
  ['a NUL', `name: «"a\\0b"\n${steps}`, /^text must not contain NUL/],
  ['a dangerous name', 'name: x\nsteps: «{__proto__: {command: x}}', /"__proto__" is not allowed/],
  ['no steps', '«name: x\n', /^missing key "steps": expected a list or a map$/],
  ['no name', `«${steps}`, /^missing key "name": expected text$/],
  ['a number as name', `name: «5\n${steps}`, /^name: expected text: write "5" in quotes$/],
  ['steps that are a number', 'name: x\nsteps: «5\n', /^steps: expected a list or a map, got 5$/],
  ['steps without any', 'name: x\nsteps: «[]\n', /^steps: expected at least one step$/],
  ['an empty map of steps', 'name: x\nsteps: «{}\n', /^steps: expected at least one step$/],
  ['nothing after steps', 'name: x\n«steps:\n', /^steps: expected a list or a map, got nothing$/],
  ['a step without a key', 'name: x\nsteps:\n  - «command: y\n', /^missing key "key": expected a name/],
  ['an empty step', 'name: x\nsteps:\n  «a:\n  b: {command: y}\n', /^a: expected a map, got nothing$/],
  [
    'a step that does nothing',
    'name: x\nsteps:\n  «a:\n    queue: q\n',
    /expected exactly one of command and handler$/,
  ],
  [
    'a step that does two things',
    'name: x\nsteps:\n  - «{key: a, command: x, handler: y}\n',
    /^expected exactly one of command and handler$/,
  ],
  ['a key that is no name', 'name: x\nsteps: {«a b: {command: x}}', /^expected a name of letters, digits, _ and -/],
  [
    'a misspelt key',
    `nmae: x\nname: x\n${steps}`.replace('nmae', '«nmae'),
    /^unknown key "nmae" \(did you mean "name"\?\)$/,
  ],
  [
    'a key known from CI',
    'name: x\nsteps:\n  a:\n    «run: echo\n',
    /^unknown key "run" \(did you mean "command"\?\)$/,
  ],
  [
    'another key known from CI',
    'name: x\nsteps:\n  a: {command: x, «needs: []}\n',
    /^unknown key "needs" \(did you mean "depends_on"\?\)$/,
  ],
  [
    'a key that is like nothing',
    'name: x\nsteps: {a: {command: x, «zzzzzz: 1}}',
    /^unknown key "zzzzzz"; known are command, handler,/,
  ],
  [
    'a misspelt key deep inside',
    'name: x\nsteps: {a: {command: x, backoff: {«bas: 1}}}',
    /^unknown key "bas" \(did you mean "base"\?\)$/,
  ],
  ['a command in defaults', `name: x\ndefaults: {«command: x}\n${steps}`, /^unknown key "command"; known are queue/],
  ['a command that is a list', 'name: x\nsteps: {a: {command: «[x]}}', /^command: expected text, got a list$/],
  ['an empty command', 'name: x\nsteps: {a: {command: «""}}', /^command: must not be empty$/],
  ['input for a command', 'name: x\nsteps: {a: {command: x, input: «1}}', /^input goes to a handler/],
  [
    'a duration that is none',
    'name: x\nsteps: {a: {command: x, timeout: «5x}}',
    /^timeout: expected a duration such as "90s"/,
  ],
  [
    'a priority out of range',
    'name: x\nsteps: {a: {command: x, priority: «99999}}',
    /^priority: expected a whole number from -32768 to 32767$/,
  ],
  [
    'a condition that is none',
    'name: x\nsteps: {a: {command: x, if: «sucess}}',
    /^if: expected success, failure or ended, got "sucess" \(did you mean "success"\?\)$/,
  ],
  [
    'an env value that is a number',
    'name: x\nsteps: {a: {command: x, env: {PORT: «80}}}',
    /^PORT: expected text: write "80" in quotes$/,
  ],
  [
    'an env name that is none',
    'name: x\nsteps: {a: {command: x, env: {«A-B: "1"}}}',
    /^expected a name of letters, digits and _$/,
  ],
  [
    'a reserved env name',
    'name: x\nsteps: {a: {command: x, env: {«WORKRON_PARAM_X: "1"}}}',
    /names that begin with WORKRON_ are Workron's own/,
  ],
  [
    'a flag that is a word',
    'name: x\nsteps: {a: {command: x, continue_on_failure: «maybe}}',
    /^continue_on_failure: expected true or false, got "maybe"$/,
  ],
  ['parameters as a list', `name: x\nparams: «[d]\n${steps}`, /^params: expected a map, got a list$/],
  [
    'an unknown parameter type',
    `name: x\nparams: {d: {type: «int}}\n${steps}`,
    /^type: expected string, integer, number, boolean or list, got "int"/,
  ],
  [
    'a default of the wrong type',
    `name: x\nparams: {d: {type: integer, default: «1.5}}\nsteps: {a: {handler: x}}`,
    /^default: expected a whole number, got 1.5$/,
  ],
  [
    'a number as default of a text',
    `name: x\nparams: {d: {default: «2026}}\nsteps: {a: {handler: x}}`,
    /^default: expected text: write "2026" in quotes$/,
  ],
  [
    'a default outside its enum',
    `name: x\nparams: {d: {enum: [a, b], default: «c}}\nsteps: {a: {handler: x}}`,
    /^default: expected one of a, b, got "c"$/,
  ],
  [
    'an enum value of the wrong type',
    `name: x\nparams: {d: {enum: [a, «1]}}\nsteps: {a: {handler: x}}`,
    /^enum: expected text: write "1" in quotes$/,
  ],
  [
    'a default for what is required',
    `name: x\nparams: {d: {default: a, required: «true}}\nsteps: {a: {handler: x}}`,
    /^required: a parameter with a default is never missing/,
  ],
  [
    'parameters that meet in one variable',
    `name: x\nparams: {my-day: {}, «MY_DAY: {}}\nsteps: {a: {handler: x}}`,
    /^parameters "my-day" and "MY_DAY" are both WORKRON_PARAM_MY_DAY; rename one$/,
  ],
  [
    'steps that meet in one variable',
    'name: x\nsteps:\n  - {key: a-b, command: x}\n  - {key: «a_b, command: x}\n',
    /^steps "a-b" and "a_b" both give their results to children as WORKRON_PARENT_A_B_…; rename one$/,
  ],
  [
    'a step key twice',
    'name: x\nsteps:\n  - {key: a, command: x}\n  - {key: «a, command: y}\n',
    /^duplicate step key "a": it is step 1 already$/,
  ],
  [
    'an unknown parent',
    'name: x\nsteps: {extract: {command: x}, b: {command: y, depends_on: [«extrakt]}}',
    /^depends_on: there is no step "extrakt" \(did you mean "extract"\?\)$/,
  ],
  [
    'an unknown parent, named alone',
    'name: x\nsteps: {extract: {command: x}, b: {command: y, depends_on: «extrat}}',
    /there is no step "extrat" \(did you mean "extract"\?\)$/,
  ],
  [
    'a parent twice',
    'name: x\nsteps: {a: {command: x}, b: {command: y, depends_on: [a, «a]}}',
    /^depends_on: "a" is named twice$/,
  ],
  [
    'a step that depends on itself',
    'name: x\nsteps: {a: {command: x, depends_on: [«a]}}',
    /^depends_on: step "a" depends on itself$/,
  ],
  [
    'a cycle',
    'name: x\nsteps:\n  a: {command: x, depends_on: «[c]}\n  b: {command: x, depends_on: [a]}\n  c: {command: x, depends_on: [b]}\n',
    /^dependency cycle: a -> b -> c -> a$/,
  ],
  ['if: failure of nobody', 'name: x\nsteps: {a: {command: x, if: «failure}}', /^if: failure needs depends_on/],
  [
    'a failure that never counts',
    'name: x\nsteps:\n  a: {command: x, continue_on_failure: true}\n  «b: {command: x, depends_on: [a], if: failure}\n',
    /^step "b" can never run: it waits for a failure/,
  ],
  [
    'success after a rescue',
    'name: x\nsteps:\n  a: {command: x}\n  b: {command: x, depends_on: [a], if: failure}\n  «c: {command: x, depends_on: [a, b]}\n',
    /^step "c" can never run: it needs the success of "b", which runs only when/,
  ],
  ['max_parallel of one', 'name: x\nsteps: {a: {command: x, max_parallel: «2}}', /^max_parallel needs for_each$/],
  [
    'for_each over a number',
    'name: x\nsteps: {a: {command: x, for_each: «3}}',
    /^for_each: expected a list or a map, got 3$/,
  ],
  [
    'for_each over too much',
    `name: x\nsteps: {a: {command: x, for_each: «[${'1,'.repeat(100_001)}]}}`,
    /^for_each: at most 100000 items$/,
  ],
  [
    'for_each over nothing known',
    'name: x\nsteps: {a: {command: x, for_each: {«parm: x}}}',
    /^unknown key "parm" \(did you mean "param"\?\)$/,
  ],
  [
    'for_each over two things',
    `name: x\nparams: {p: {type: list}}\nsteps: {a: {command: x, for_each: «{param: p, output: b.c}}}`,
    /^for_each: expected exactly one of param and output$/,
  ],
  [
    'for_each over an unknown parameter',
    'name: x\nparams: {files: {type: list}}\nsteps: {a: {handler: x, for_each: {param: «file}}}',
    /^for_each: there is no parameter "file" \(did you mean "files"\?\)$/,
  ],
  [
    'for_each over a text',
    'name: x\nparams: {file: {}}\nsteps: {a: {handler: x, for_each: {param: «file}}}',
    /^for_each: the parameter "file" is of type string, expected a list$/,
  ],
  [
    'for_each over a stranger',
    'name: x\nsteps: {l: {command: x}, a: {command: x, for_each: {output: «l.files}}}',
    /^for_each: "l" is not a parent of "a"; add it to depends_on$/,
  ],
  [
    'for_each over nobody',
    'name: x\nsteps: {list: {command: x}, a: {command: x, depends_on: list, for_each: {output: «lits.files}}}',
    /^for_each: there is no step "lits" \(did you mean "list"\?\)$/,
  ],
];

const DOUBTFUL: Case[] = [
  [
    'a parameter that no command reads',
    'name: x\nparams: {«day: {}}\nsteps: {a: {command: x}}',
    /^parameter "day" is not used: no command names WORKRON_PARAM_DAY$/,
  ],
  [
    'a list that no step runs over',
    'name: x\nparams: {«days: {type: list}}\nsteps: {a: {command: x}}',
    /^parameter "days" is not used: no for_each names it$/,
  ],
  [
    'a variable that no parameter sets',
    'name: x\nsteps: {a: {command: «echo $WORKRON_PARAM_DAY}}',
    /^no parameter sets WORKRON_PARAM_DAY$/,
  ],
  [
    'a result of a step that is no parent',
    'name: x\nsteps: {l: {command: x}, a: {command: «echo $WORKRON_PARENT_L_X}}',
    /^no parent of "a" sets WORKRON_PARENT_L_X; add "l" to depends_on$/,
  ],
  [
    'an item where there is none',
    'name: x\nsteps: {a: {command: «echo $WORKRON_ITEM}}',
    /^WORKRON_ITEM is set only where the step has for_each$/,
  ],
  [
    'the file of an item where there is none',
    'name: x\nsteps: {a: {command: «cat $WORKRON_FILE_ITEM}}',
    /^WORKRON_ITEM is set only where the step has for_each$/,
  ],
  [
    'the file of a parameter that is none',
    'name: x\nsteps: {a: {command: «cat $WORKRON_FILE_PARAM_DAY}}',
    /^no parameter sets WORKRON_PARAM_DAY$/,
  ],
  [
    'a template as in CI files',
    'name: x\nsteps:\n  a:\n    command: «echo ${{ params.day }}\n',
    /is not replaced; parameters are variables/,
  ],
  [
    'an empty list to run over',
    'name: x\nsteps: {a: {command: x, for_each: «[]}}',
    /^for_each: the list is empty, so nothing runs$/,
  ],
  [
    'a clean-up that misses failures',
    'name: x\nsteps:\n  a: {command: x}\n  b: {command: x, depends_on: a}\n  c: {command: x, depends_on: b, if: «failure}\n',
    /^"c" does not run when "a" fails, as "b" is then skipped/,
  ],
];

describe('bad input', () => {
  for (const each of MALFORMED) check(each, 'error');

  test('nesting without end', () => {
    const { definition, problems } = readWorkflowFile('['.repeat(20_000));
    assert.equal(definition, null);
    assert.deepEqual(
      problems.map(({ line, message }) => [line, message]),
      [[1, 'nested too deeply']],
    );
  });
});

describe('doubtful input', () => {
  for (const each of DOUBTFUL) check(each, 'warning');
});
