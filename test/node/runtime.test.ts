import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runtimeProblem } from '../../src/node/runtime.ts';

test('runtime: the versions of each line that work are accepted, older ones and short-lived lines are named and refused', () => {
  for (const version of ['22.20.0', '22.23.3', '24.7.0', '24.21.0', '25.0.0', '26.10.0']) {
    assert.equal(runtimeProblem(version), undefined, version);
  }
  for (const version of ['18.0.0', '20.20.2', '22.19.9', '23.11.0', '24.6.0', 'nonsense']) {
    assert.equal(runtimeProblem(version), `Workron needs Node 22.20, 24.7 or newer; this is Node ${version}`);
  }
});
