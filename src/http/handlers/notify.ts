import { NotifyTargets, NotifyTest, NotifyTested, notifyFrom } from '../../api/notify.ts';
import { routes } from '../../api/routes.ts';
import { handler } from '../handler.ts';

export const notifyHandlers = {
  listNotifyTargets: handler(routes.listNotifyTargets, {
    summary: 'List the targets of the installation, without their addresses and commands',
    replies: { 200: NotifyTargets },
    async handle({ scheduler }) {
      const items = scheduler.notifyTargets().map(({ on, ...target }) => ({ ...target, on: [...on] }));
      return { status: 200, json: { items } };
    },
  }),

  testNotify: handler(routes.testNotify, {
    summary: 'Send a test message to targets that are given, or to those of the installation',
    body: NotifyTest,
    replies: { 202: NotifyTested },
    async handle({ scheduler, body: { notify, installation = 'all' }, principal, signal }) {
      const own = installation === 'all' ? 'installation' : installation;
      const targets = notify === undefined ? own : notifyFrom(notify);
      const sent = await scheduler.testNotify({ targets, submittedBy: principal.submitter }, signal);
      return { status: 202, json: { items: sent.map(({ type, jobId }) => ({ type, job_id: String(jobId) })) } };
    },
  }),
};
