/** The dashboard for Grafana and the alert rules for Prometheus, against the metrics that Workron really has. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { openTestServer } from '../kit/http.ts';
import { onPath } from '../kit/on-path.ts';

const deploy = join(import.meta.dirname, '..', '..', 'deploy');
const rulesFile = join(deploy, 'prometheus', 'alerts.yaml');

interface Rules {
  groups: { rules: { alert: string; expr: string; annotations: { summary: string; description: string } }[] }[];
}

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[];
}

async function rules(): Promise<Rules['groups'][number]['rules']> {
  const { groups } = parse(await readFile(rulesFile, 'utf8')) as Rules;
  return groups.flatMap((group) => group.rules);
}

async function expressions(): Promise<Map<string, string>> {
  const { panels } = JSON.parse(await readFile(join(deploy, 'grafana', 'workron.json'), 'utf8')) as Dashboard;
  const found = new Map<string, string>();
  for (const { alert, expr } of await rules()) found.set(alert, expr);
  for (const { title, targets } of panels) {
    for (const [index, { expr }] of targets.entries()) found.set(`${title} ${index}`, expr);
  }
  return found;
}

/** The names of a running server's metrics, with the series of histograms. */
async function metrics(): Promise<Set<string>> {
  await using server = await openTestServer();
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)] as unknown as [string, string, string][];
  const series = ([, name, type]: [string, string, string]) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name];
  return new Set(types.flatMap(series));
}

test('monitoring: the dashboard and the alerts use only metrics that exist', async () => {
  const known = await metrics();
  assert.ok(known.size > 15, `${known.size} metrics`);
  for (const [where, expr] of await expressions()) {
    const names = expr.match(/\bworkron_\w+/g) ?? [];
    if (where !== 'WorkronDown') assert.ok(names.length > 0, `${where} uses no metric`);
    for (const name of names) assert.ok(known.has(name), `${where}: ${name} does not exist`);
  }
});

test('monitoring: every alert says what to do', async () => {
  for (const { alert, annotations } of await rules()) {
    assert.match(annotations.summary, /\S/, alert);
    assert.match(annotations.description, /\.$/, alert);
  }
});

test('monitoring: Prometheus accepts the rules', {
  skip: !onPath('promtool') && 'promtool is not installed',
}, async () => {
  const { stdout } = await promisify(execFile)('promtool', ['check', 'rules', rulesFile]);
  assert.match(stdout, /SUCCESS: \d+ rules found/);
});
