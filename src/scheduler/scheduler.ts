/** The interface of a scheduler for its callers: the HTTP API, in-process workers and the library. */

import type { Hint } from '../store/hint.ts';
import type { Access } from './access/access.ts';
import type { Sessions } from './access/sessions.ts';
import type { Cluster } from './cluster.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { WorkerCalls } from './leases/worker-calls.ts';
import type { NotifyTests } from './notify/test-messages.ts';
import type { Schedules } from './schedules/schedules.ts';
import type { Secrets } from './secrets/secrets.ts';
import type { Definitions } from './workflows/definitions.ts';
import type { Workflows } from './workflows/workflows.ts';

interface Health {
  instanceId: string;
  uptimeMs: number;
  /** Background loops that should have begun a round long ago; empty if healthy. */
  stuck: string[];
}

export interface Readiness {
  ready: boolean;
  /** Why it is not ready, one phrase each. */
  problems: string[];
}

export interface Scheduler
  extends Jobs,
    Workflows,
    Definitions,
    Schedules,
    Cluster,
    Access,
    Sessions,
    Secrets,
    NotifyTests,
    WorkerCalls,
    AsyncDisposable {
  readonly instanceId: string;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** The store's address, without secrets. */
  readonly location: string;
  readonly driver: string;

  subscribe(listener: (hint: Hint) => void): () => void;
  health(): Health;
  ready(signal: AbortSignal): Promise<Readiness>;
  /** Counts a request that was answered; `route` is the method and the pattern of the path. */
  countRequest(route: string, status: number): void;
  /** Prometheus text. */
  metrics(signal: AbortSignal): Promise<{ contentType: string; body: string }>;
  /** From now on the scheduler is not ready, claims answer with an empty list, and waits end. Other requests go on. */
  drain(): void;
}
