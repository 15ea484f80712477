/** How this process isolates commands, by its settings. */

import type { Settings } from '../ops/settings/settings.ts';
import { DEFAULT_ISOLATION, type Isolation } from '../worker/command/isolation.ts';

type IsolationSettings = Pick<
  Settings,
  'pidNamespace' | 'runAs' | 'commandNewPrivileges' | 'commandOpenFiles' | 'commandCpuTimeMs'
>;

/** Rejects with the setting that this machine cannot fulfil, and why. */
export async function isolationOf(settings: IsolationSettings): Promise<Isolation> {
  const { pidNamespace, runAs, commandOpenFiles: openFiles, commandCpuTimeMs: cpuTimeMs } = settings;
  const isolation = { ...DEFAULT_ISOLATION, pidNamespace, limits: { openFiles, cpuTimeMs } };
  if (runAs !== null) {
    const { findCommandUser } = await import('../worker/launcher/command-user.ts');
    isolation.user = await naming('run-as', findCommandUser(runAs));
  }
  isolation.noNewPrivileges =
    settings.commandNewPrivileges === 'deny' || (settings.commandNewPrivileges === 'auto' && runAs !== null);
  if (isolation.noNewPrivileges) {
    const { assertNoNewPrivileges } = await import('../worker/launcher/no-new-privileges.ts');
    await naming('command-new-privileges', assertNoNewPrivileges());
  }
  return isolation;
}

async function naming<T>(setting: string, check: Promise<T>): Promise<T> {
  try {
    return await check;
  } catch (error) {
    throw new Error(`${setting}: ${(error as Error).message}`, { cause: error });
  }
}
