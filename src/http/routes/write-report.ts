import { ReportAnswer, ReportRequest } from '../../api/report.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';

export const writeReport = defineRoute({
  method: 'POST',
  path: '/workers/:id/report',
  scope: 'work',
  summary: 'A worker tells how far attempts are, and what later ones could go on from',
  body: ReportRequest,
  textFromJobs: true,
  bodyLimit: 16 * 1024 * 1024,
  quiet: true,
  answers: { 200: ReportAnswer },
  async handle({ scheduler, params, body, signal }) {
    const workerId = pathId(params, 'worker_not_found');
    const reports = body.items.map(({ job_id: jobId, attempt, progress, checkpoint }) => ({
      jobId,
      attempt,
      workerId,
      ...(progress === undefined ? {} : { progress }),
      ...(checkpoint === undefined ? {} : { checkpoint }),
    }));
    // Of two about one job the later one counts, and answers for both.
    const latest = [...new Map(reports.map((report) => [report.jobId, report])).values()];
    const held = latest.length === 0 ? [] : await scheduler.report(latest, signal);
    const answers = new Map(latest.map(({ jobId }, place) => [jobId, held[place] === true]));
    const items = reports.map(({ jobId, attempt }) => {
      return { job_id: String(jobId), attempt, held: answers.get(jobId) === true };
    });
    return { status: 200, json: { items } };
  },
});
