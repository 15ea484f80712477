/** The line of an error that lists, notifications and groups of failures show. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureLine } from '../../src/core/failure-line.ts';

const CASES: readonly [what: string, error: string, line: string][] = [
  ['nothing was printed', 'exit 7', 'exit 7'],
  ['one line', 'exit 7\nno paper\n', 'exit 7: no paper'],
  [
    'the last of several',
    'exit 1\nconnecting to 10.0.0.2\npsycopg.OperationalError: connection refused\n',
    'exit 1: psycopg.OperationalError: connection refused',
  ],
  [
    'an error before lines that clean up',
    'exit 2\ncp: cannot stat x: No such file or directory\nremoving lock\n',
    'exit 2: cp: cannot stat x: No such file or directory',
  ],
  [
    'Python',
    'exit 1\nTraceback (most recent call last):\n  File "a.py", line 1, in <module>\n    boom()\nValueError: bad\n',
    'exit 1: ValueError: bad',
  ],
  [
    'Node',
    "exit 1\n/x.js:1\nthrow new Error('boom')\n^\n\nError: boom\n    at Object.<anonymous> (/x.js:1:7) {\n  code: 'E'\n}\n\nNode.js v26.0.0\n",
    'exit 1: Error: boom',
  ],
  [
    'Go',
    'exit 2\npanic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:3 +0x25\nexit status 2\n',
    'exit 2: panic: boom',
  ],
  [
    'Java',
    'exit 1\nException in thread "main" java.lang.E: x\n\tat A.main(A.java:1)\n',
    'exit 1: Exception in thread "main" java.lang.E: x',
  ],
  ['only indented lines', 'exit 1\n  one\n  two\n', 'exit 1: two'],
  ['no words', 'exit 1\n====\n\n', 'exit 1'],
  ['a signal', 'signal SIGSEGV\nloading\n', 'signal SIGSEGV: loading'],
  ['a timeout', 'timed out after 5m\nwaiting for the lock\n', 'timed out after 5m: waiting for the lock'],
  ['a handler', 'TypeError: x is not a function\n    at run (file:///a.ts:1:1)\n', 'TypeError: x is not a function'],
  ['nothing at all', '', ''],
];

for (const [what, error, line] of CASES) {
  test(`failure line: ${what}`, () => assert.equal(failureLine(error), line));
}
