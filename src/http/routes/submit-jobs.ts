import { decode, invalid } from '../../api/decode.ts';
import { Submitted } from '../../api/job.ts';
import { JobSubmission, JobsSubmission, MAX_ARRAY_BYTES, MAX_JOB_BYTES, MAX_JOBS } from '../../api/job-submission.ts';
import { newJobFrom, submittedJobToWire } from '../../api/job-wire.ts';
import { WorkronError } from '../../core/error.ts';
import { mapJsonArray } from '../json-array.ts';
import { jsonItems } from '../json-items.ts';
import { checkJsonType, firstCharacter, readJson } from '../read-json.ts';
import { type Answer, type Call, defineRoute } from '../route.ts';
import { idempotencyOf, replayHeader } from '../submission.ts';

/** Above this, an array's answer is sent piece by piece. */
const MAX_AT_ONCE = 500;

export const submitJobs = defineRoute({
  method: 'POST',
  path: '/jobs',
  scope: 'submit',
  summary: 'Submit one job, or an array of jobs: all of them or none',
  documentedBody: JobsSubmission,
  bodyLimit: MAX_ARRAY_BYTES,
  answers: { 201: Submitted },
  async handle(call) {
    checkJsonType(call.bytes, call.headers['content-type']);
    const options = idempotencyOf(call, '/jobs');
    if (firstCharacter(call.bytes) === '[') return submitArray(call, options);
    if (call.bytes.length > MAX_JOB_BYTES) {
      throw new WorkronError('payload_too_large', `One job may have at most ${MAX_JOB_BYTES} bytes`);
    }
    const value = readJson(call.bytes, call.headers['content-type']);
    if (value === undefined) {
      throw invalid([{ pointer: '', detail: 'expected a JSON body such as {"command": "echo hi"}' }]);
    }
    const job = newJobFrom(decode(JobSubmission, value));
    const { items, replayed } = await call.scheduler.submit([job], options, call.signal);
    const [item] = items.map(submittedJobToWire);
    return { status: 201, json: item, headers: { location: `/jobs/${item?.id}`, ...replayHeader(replayed) } };
  },
});

async function submitArray(call: Call, options: ReturnType<typeof idempotencyOf>): Promise<Answer> {
  const limits = { mostItems: MAX_JOBS, mostBytesPerItem: MAX_JOB_BYTES };
  const jobs = await mapJsonArray(call.bytes, limits, (item, index) =>
    newJobFrom(decode(JobSubmission, item, `/${index}`)),
  );
  const { items, replayed } = await call.scheduler.submit(jobs, options, call.signal);
  const headers = replayHeader(replayed);
  if (items.length <= MAX_AT_ONCE) return { status: 201, json: { items: items.map(submittedJobToWire) }, headers };
  return {
    status: 201,
    type: 'application/json; charset=utf-8',
    chunks: jsonItems(items, submittedJobToWire),
    headers,
  };
}
