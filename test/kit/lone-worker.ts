/** A worker process to be killed or frozen. Arguments: command, lease in milliseconds, PID namespace mode, where to report its end. */

import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { DEFAULT_ISOLATION } from '../../src/worker/command/isolation.ts';
import { Worker } from '../../src/worker/worker.ts';
import { ScriptedSource } from './scripted-source.ts';

const [command, leaseMs, pidNamespace, gone] = process.argv.slice(2) as [string, string, 'auto' | 'off', string?];
const source = new ScriptedSource();
if (gone !== undefined) Object.assign(source, { gone: () => ({ urls: [gone], headers: {}, ca: null }) });
source.leaseMs = Number(leaseMs);
source.submit({ command, killGraceMs: 60_000, timeoutMs: 600_000 });
await new Worker({
  source,
  profile: { name: 'lone', slots: 1, queues: null, commands: true, handlers: [], tags: [], resources: {} },
  clock: systemClock,
  random: Math.random,
  log: silentLog,
  isolation: { ...DEFAULT_ISOLATION, pidNamespace },
}).run();
