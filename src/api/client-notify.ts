/** Targets of notifications. Not part of `Client`, which is kept small for pages: the dashboard alone needs it. */

import type { CallOptions } from './client-requests.ts';
import { clientRoutes as routes } from './client-routes.ts';
import type { HttpClient } from './http-client.ts';
import type { NotifyTargetView } from './notify.ts';

export { NOTIFY_QUEUE } from '../core/notify.ts';

export class NotifyClient {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  /** Returns the installation's targets, without addresses and commands. */
  async targets(options: CallOptions = {}): Promise<NotifyTargetView[]> {
    return (await this.#http.json(routes.listNotifyTargets, options)).items;
  }

  /** Sends a test message to a target of the installation, by its place. Returns the id of the job that delivers it. */
  async test(place: number, options: CallOptions = {}): Promise<string> {
    const { items } = await this.#http.json(routes.testNotify, { body: { installation: place }, ...options });
    return (items[0] as { job_id: string }).job_id;
  }
}
