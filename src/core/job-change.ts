/**
 * The requests of the API that change jobs. The audit names a change by its request, and the history of a job is read from the audit, so
 * core has to know these. The table of routes (src/api/client-routes.ts) takes them from here.
 */

export const JOB_CHANGES = {
  editJob: 'PATCH /jobs/:id',
  deleteJob: 'DELETE /jobs/:id',
  cancelJob: 'POST /jobs/:id/cancel',
  retryJob: 'POST /jobs/:id/retry',
  cancelWorkflow: 'POST /workflows/:id/cancel',
  retryWorkflow: 'POST /workflows/:id/retry',
} as const;

type JobChange = (typeof JOB_CHANGES)[keyof typeof JOB_CHANGES];

/** The name of a route in the audit, such as `POST /jobs/:id/cancel`. */
export function actionOf({ method, path }: { method: string; path: string }): string {
  return `${method} ${path}`;
}

/** The path of a change to the job or workflow with this id. */
export function changePath(change: JobChange, id: number): string {
  return change.slice(change.indexOf('/')).replace(':id', String(id));
}
