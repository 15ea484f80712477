/** The context of every use case and duty: the store, the clock and all other shared state. There are no globals. */

import type { Clock, Random } from '../core/clock.ts';
import type { SecretKeys } from '../core/secret.ts';
import type { Log } from '../ops/log.ts';
import type { Store } from '../store/store.ts';
import type { ClaimWaits } from './leases/claim-waits.ts';
import type { IdleClaims } from './leases/idle-claims.ts';
import type { SharedPolling } from './leases/shared-polling.ts';
import type { NotifyContext } from './notify/targets.ts';
import type { Sealing } from './secrets/sealing.ts';
import type { Telemetry } from './telemetry.ts';
import type { InputChecks } from './workflows/step-inputs.ts';

export interface SchedulerContext {
  store: Store;
  clock: Clock;
  random: Random;
  log: Log;
  telemetry: Telemetry;
  instanceId: string;
  notify: NotifyContext;
  /** `null` if this process has no key for secrets. */
  secretKeys: SecretKeys | null;
  sealing: Sealing;
  idle: IdleClaims;
  polls: SharedPolling;
  claimWaits: ClaimWaits;
  /** Filled by the handlers of this process. */
  inputChecks: InputChecks;
}
