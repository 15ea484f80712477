import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_SPEC } from '../../src/core/job.ts';
import { editJob } from '../../src/core/schedule/edit-job.ts';

test('edit job: an input that came unsealed is refused if the schedule was given a sealed one in the meantime', () => {
  const before = { job: { ...DEFAULT_SPEC, handler: 'h', sealInput: true, sealedInput: 'k1:YQ==' } };
  assert.throws(() => editJob(before, { input: 'plain' }), { code: 'illegal_transition', message: /try again/ });
  assert.deepEqual(editJob(before, { input: 'plain', sealInput: false }), {
    job: { ...DEFAULT_SPEC, handler: 'h', input: 'plain' },
  });
  assert.deepEqual(editJob(before, { queue: 'q' }), { job: { ...before.job, queue: 'q' } });
});

test('edit job: a workflow is replaced by a job with a sealed input', () => {
  const before = { workflow: { name: 'w', params: {}, steps: [] } };
  const edit = { handler: 'h', input: null, sealInput: true, sealedInput: 'k1:YQ==' };
  assert.deepEqual(editJob(before, edit), { job: { ...DEFAULT_SPEC, ...edit } });
});
