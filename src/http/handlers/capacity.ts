import { Limit, LimitEdit, LimitList, limitToWire, RateList, rateToWire } from '../../api/capacity.ts';
import { decode } from '../../api/decode.ts';
import { meterKey } from '../../api/meters.ts';
import { routes } from '../../api/routes.ts';
import { handler } from '../handler.ts';

export const capacityHandlers = {
  listLimits: handler(routes.listLimits, {
    summary: 'List every key whose limit is set, used or waited for',
    replies: { 200: LimitList },
    async handle({ scheduler, signal }) {
      return { status: 200, json: { items: (await scheduler.limits(signal)).map(limitToWire) } };
    },
  }),

  setLimit: handler(routes.setLimit, {
    summary: 'Set how many jobs with a key may run, whatever their own limits say',
    body: LimitEdit,
    replies: { 200: Limit },
    async handle({ scheduler, params, body, signal }) {
      const key = decode(meterKey, params['key'], '/key');
      return { status: 200, json: limitToWire(await scheduler.setLimit(key, body.max, signal)) };
    },
  }),

  deleteLimit: handler(routes.deleteLimit, {
    summary: 'Let the limits of the jobs with a key count again',
    replies: { 200: Limit },
    async handle({ scheduler, params, signal }) {
      const key = decode(meterKey, params['key'], '/key');
      return { status: 200, json: limitToWire(await scheduler.setLimit(key, null, signal)) };
    },
  }),

  listRates: handler(routes.listRates, {
    summary: 'List every key whose rate is used, closed or waited for',
    replies: { 200: RateList },
    async handle({ scheduler, signal }) {
      return { status: 200, json: { items: (await scheduler.rates(signal)).map(rateToWire) } };
    },
  }),
};
