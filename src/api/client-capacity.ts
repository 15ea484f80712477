/** The part of the client about limits and rates of keys. */

import type { Limit, Rate } from './capacity.ts';
import type { CallOptions } from './client-requests.ts';
import { clientRoutes as routes } from './client-routes.ts';
import type { HttpClient } from './http-client.ts';

export class CapacityClient {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  /** Returns every key whose limit is set, used or waited for. */
  async limits(options: CallOptions = {}): Promise<Limit[]> {
    return (await this.#http.json(routes.listLimits, options)).items;
  }

  /** Sets how many jobs with a key may run, whatever their own limits say; `null`: these count again. */
  setLimit(key: string, max: number | null, options: CallOptions = {}): Promise<Limit> {
    const call = { params: { key }, ...options };
    if (max === null) return this.#http.json(routes.deleteLimit, call);
    return this.#http.json(routes.setLimit, { ...call, body: { max } });
  }

  /** Returns every key whose rate is used, closed or waited for. */
  async rates(options: CallOptions = {}): Promise<Rate[]> {
    return (await this.#http.json(routes.listRates, options)).items;
  }
}
