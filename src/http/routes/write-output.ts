import { decodeFrames, OUTPUT_TYPE, OutputAnswer } from '../../api/output-frames.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';

export const writeOutput = defineRoute({
  method: 'POST',
  path: '/workers/:id/output',
  scope: 'work',
  summary: 'A worker hands in output of several attempts at once',
  rawBody: OUTPUT_TYPE,
  bodyLimit: 32 * 1024 * 1024,
  quiet: true,
  answers: { 200: OutputAnswer },
  async handle({ scheduler, params, bytes, signal }) {
    const workerId = pathId(params, 'worker_not_found');
    const frames = decodeFrames(bytes);
    const chunks = frames.map((frame) => ({ ...frame, workerId }));
    const held = chunks.length === 0 ? [] : await scheduler.writeLogs(chunks, signal);
    const items = frames.map(({ jobId, attempt }, index) => {
      return { job_id: String(jobId), attempt, held: held[index] === true };
    });
    return { status: 200, json: { items } };
  },
});
