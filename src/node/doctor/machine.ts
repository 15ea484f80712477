/** What this machine offers: limits of the process, and what the launcher of commands uses. */

import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { canGroup } from '../../worker/launcher/cgroup.ts';
import { canEnclose } from '../../worker/launcher/namespace.ts';
import { type Finding, ok, warning } from './finding.ts';

/** Each job that runs needs a few, each connection one. */
const FEW_FILES = 4_096;

export async function examineMachine(): Promise<Finding[]> {
  const group = await canGroup();
  return [
    ok('node', `${process.version} on ${process.platform}`),
    files(),
    await namespace(group),
    cgroup(group),
    ffi(),
  ];
}

function files(): Finding {
  const limit = limitOf('Max open files');
  if (limit === undefined) return ok('open files', 'the limit is not known on this system');
  if (limit >= FEW_FILES) return ok('open files', `at most ${limit}`);
  return warning(
    'open files',
    `at most ${limit}`,
    `raise it to ${FEW_FILES} or more: ulimit -n, or LimitNOFILE= in the unit`,
  );
}

function limitOf(name: string): number | undefined {
  if (!existsSync('/proc/self/limits')) return undefined;
  const line = readFileSync('/proc/self/limits', 'utf8')
    .split('\n')
    .find((each) => each.startsWith(name));
  const limit = Number(line?.slice(26).trim().split(/\s+/)[0]);
  return Number.isNaN(limit) ? undefined : limit;
}

async function namespace(group: boolean): Promise<Finding> {
  if (await canEnclose()) return ok('pid namespace', 'commands run in a namespace of their own');
  if (group) return ok('pid namespace', 'not possible here; all processes of commands are found by a control group');
  const when = isBuiltin('node:ffi') ? 'if the launcher is killed' : 'always';
  return warning(
    'pid namespace',
    `not possible here: a process that leaves its session, parent and environment outlives its job ${when}`,
    'allow unshare(2) (needs root), or give the worker a control group of its own (Delegate=yes in the unit)',
  );
}

function cgroup(group: boolean): Finding {
  return ok(
    'cgroup',
    group ? 'commands can have one of their own' : 'none can be made here; nothing depends on it alone',
  );
}

function ffi(): Finding {
  if (isBuiltin('node:ffi')) return ok('ffi', 'shells are started by posix_spawn');
  return ok('ffi', "not in this version of Node: shells are started by Node's spawn, which takes longer");
}
