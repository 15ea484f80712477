/**
 * The steps of the Dockerfile, run in folders that look like images: each stage is this machine's system under a layer of
 * its own, with the project's Node. It shows that the steps work, not that the base image has what they need.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { fullOnly } from '../full-only.ts';
import { readDockerfile, type Stage } from '../kit/dockerfile.ts';
import { temporaryFolder } from '../kit/workron-process.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const PORT = '18999';

/** Shell lines that make the root of a stage: `$stages/NAME/root`. */
function linesOf({ as, instructions }: Stage): string[] {
  const name = as ?? 'last';
  const lines = [`layer ${name}`];
  let folder = '/';
  for (const { name: kind, text } of instructions) {
    const [first = '', from = '', to = ''] = text.split(/\s+/);
    if (kind === 'WORKDIR') {
      folder = first;
      lines.push(`mkdir -p "$stages/${name}/root${folder}"`);
    }
    if (kind === 'COPY' && first.startsWith('--from=')) {
      lines.push(`cp -a "$stages/${first.slice('--from='.length)}/root${from}" "$stages/${name}/root${to}"`);
    } else if (kind === 'COPY') {
      assert.equal(text, '. .');
      lines.push(`tar -xf "$sources" -C "$stages/${name}/root${folder}"`);
    }
    if (kind === 'RUN') lines.push(`chroot "$stages/${name}/root" sh -euc ${quoted(`cd ${folder}; ${text}`)}`);
  }
  return lines;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const PROLOGUE = `
layer() {
  mkdir -p "$stages/$1/upper/usr/local/bin" "$stages/$1/work" "$stages/$1/root"
  cp "$node" "$stages/$1/upper/usr/local/bin/node"
  mount -t overlay overlay -o "lowerdir=/,upperdir=$stages/$1/upper,workdir=$stages/$1/work" "$stages/$1/root"
  mount -t proc proc "$stages/$1/root/proc"
  mount --rbind /dev "$stages/$1/root/dev"
}`;

/** Starts the last stage, asks the health check until it is well, runs a job, and stops it. */
function startLines(last: Stage): string[] {
  const of = (kind: string) => last.instructions.findLast(({ name }) => name === kind)?.text ?? assert.fail(kind);
  const entry = [...(JSON.parse(of('ENTRYPOINT')) as string[]), ...(JSON.parse(of('CMD')) as string[])];
  const check = JSON.parse(/\[.*\]$/.exec(of('HEALTHCHECK'))?.[0] ?? '') as string[];
  const inside = (words: readonly string[]) =>
    `chroot "$stages/last/root" env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=${of('WORKDIR')} ${of('ENV')} ` +
    `WORKRON_PORT=${PORT} WORKRON_TOKEN=a-token-of-more-than-22-characters sh -c ${quoted(`cd ${of('WORKDIR')}; exec "$@"`)} - ${words.map(quoted).join(' ')}`;
  const url = `--url=http://127.0.0.1:${PORT}`;
  return [
    `${inside(entry)} & server=$!`,
    `for try in $(seq 100); do ${inside(check)} && break; sleep 0.3; done`,
    inside(check),
    inside(['workron', 'run', url, '--', 'echo "ran as $(id -u)"']),
    'kill -TERM $server; wait $server',
  ];
}

const isRoot = process.getuid?.() === 0 && process.platform === 'linux';

test('image: the steps of the Dockerfile work, and what they make runs jobs as their user', {
  skip: fullOnly('image: the steps of the Dockerfile') || (!isRoot && 'as root on Linux'),
}, async () => {
  await using folder = await temporaryFolder();
  const stages = readDockerfile(await readFile(join(root, 'Dockerfile'), 'utf8'));
  const ignored = (await readFile(join(root, '.dockerignore'), 'utf8')).trim().split('\n');
  const { stdout: listed } = await run('git', ['ls-files'], { cwd: root, maxBuffer: 16 * 1024 * 1024 });
  const files = listed.split('\n').filter((file) => file !== '' && !ignored.includes(file.split('/')[0] as string));
  await mkdir(join(folder.path, 'stages'));
  await writeFile(join(folder.path, 'files'), files.join('\n'));
  const sources = join(folder.path, 'sources.tar');
  await run('tar', ['-cf', sources, '-C', root, '-T', join(folder.path, 'files')]);
  const script = [PROLOGUE, ...stages.flatMap(linesOf), ...startLines(stages.at(-1) as Stage)].join('\n');
  const { stdout } = await run('unshare', ['--mount', 'sh', '-euc', script], {
    env: { ...process.env, stages: join(folder.path, 'stages'), sources, node: process.execPath },
    maxBuffer: 64 * 1024 * 1024,
  });
  assert.match(stdout, /^ran as 10002$/m);
});
