import { Cluster } from '../../api/cluster.ts';
import { clusterToWire } from '../../api/cluster-wire.ts';
import { defineRoute } from '../route.ts';

export const readCluster = defineRoute({
  method: 'GET',
  path: '/cluster',
  scope: 'read',
  summary: 'The instances on this store, and which of them performs which duty, in which term and by which lock',
  answers: { 200: Cluster },
  async handle({ scheduler, signal }) {
    const { instanceId, driver, location } = scheduler;
    const json = { driver, location, answered_by: instanceId, ...clusterToWire(await scheduler.cluster(signal)) };
    return { status: 200, json: json satisfies Cluster };
  },
});
