import { passedOn } from '../command/environment.ts';
import { Launcher, type LauncherOptions } from './launcher.ts';
import { sweepOrphans } from './sweep.ts';

/** A launcher that is ready, after what an earlier one left behind was stopped. */
export async function openLauncher(options: Omit<LauncherOptions, 'env'>): Promise<Launcher> {
  const launcher = new Launcher({ ...options, env: passedOn(process.env) });
  await sweepOrphans(options.log);
  await launcher.open();
  return launcher;
}
