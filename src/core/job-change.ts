/**
 * The requests of the API that change jobs. The audit names a change by its request, and the history of a job is read from the audit, so
 * core has to know these. The table of routes (src/api/client-routes.ts) takes their paths from here.
 */

export const JOB_CHANGES = {
  editJob: { method: 'PATCH', path: '/jobs/:id' },
  deleteJob: { method: 'DELETE', path: '/jobs/:id' },
  cancelJob: { method: 'POST', path: '/jobs/:id/cancel' },
  retryJob: { method: 'POST', path: '/jobs/:id/retry' },
  cancelWorkflow: { method: 'POST', path: '/workflows/:id/cancel' },
  retryWorkflow: { method: 'POST', path: '/workflows/:id/retry' },
} as const;

type JobChange = (typeof JOB_CHANGES)[keyof typeof JOB_CHANGES];

/** The name of a route in the audit, such as `POST /jobs/:id/cancel`. */
export function actionOf({ method, path }: { method: string; path: string }): string {
  return `${method} ${path}`;
}

/** The path of a change to the job or workflow with this id. */
export function changePath({ path }: JobChange, id: number): string {
  return path.replace(':id', String(id));
}
