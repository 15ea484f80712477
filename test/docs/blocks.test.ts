/**
 * The documents' code blocks, executed. A ```sh block is run by sh, all blocks of a file in one shell and in order,
 * against a Workron of its own; a ```text block right after it is what it must print, where … stands for anything.
 * Other blocks are not run: ```console shows what starts a server.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { EXIT_MEANINGS } from '../../src/cli/errors/cli-error.ts';
import { createProgram } from '../../src/cli/program.ts';
import { plainEnvironment } from '../kit/command-line.ts';
import { PROGRAM } from '../kit/program.ts';
import { startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const root = join(import.meta.dirname, '..', '..');
const MARK = '=== block ';

interface Block {
  line: number;
  code: string;
  expected: string | undefined;
}

function blocksOf(file: string): Block[] {
  const content = readFileSync(join(root, file), 'utf8');
  return [...content.matchAll(/^```sh\n(.*?)^```\n(?:```text\n(.*?)^```\n)?/gms)].map((match) => ({
    line: content.slice(0, match.index).split('\n').length,
    code: match[1] as string,
    expected: match[2],
  }));
}

function matches(printed: string, expected: string): boolean {
  const parts = expected.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*?')}$`, 's').test(printed);
}

describe('docs', { concurrency: 2 }, () => {
  const files = [
    'README.md',
    ...['cli', 'checkpoints', 'unique', 'tutorial', 'recipes', 'coming-from', 'capacity', 'workflows'].map(
      (name) => `docs/${name}.md`,
    ),
  ];
  for (const file of files) {
    test(`docs: the code blocks of ${file} do what they say`, async () => {
      await using folder = await temporaryFolder();
      const args = ['up', '--port', '0', '--log-level', 'warn', '--db-url', join(folder.path, 'docs.db')];
      // As a user has it: nothing is given, and the commands find the token of the server.
      const env = { XDG_STATE_HOME: join(folder.path, 'state'), XDG_CONFIG_HOME: join(folder.path, 'config') };
      await using server = await startWorkron({ args, env, ownToken: true });
      const bin = dirname(PROGRAM);
      symlinkSync(bin, join(folder.path, 'bin'));
      symlinkSync(join(root, 'examples'), join(folder.path, 'examples'));
      writeFileSync(join(folder.path, '.curlrc'), 'fail-with-body\n');
      const blocks = blocksOf(file);
      assert.ok(blocks.length > 0);
      const script = blocks.map(({ code }, index) => `echo '${MARK}${index}'\n${code}`).join('');
      const child = spawn('sh', ['-eu', '-c', script.replaceAll('http://127.0.0.1:8080', server.url)], {
        cwd: folder.path,
        // curl reads .curlrc there: an answer that is an error fails the block.
        env: plainEnvironment({
          ...env,
          CURL_HOME: folder.path,
          WORKRON_URL: server.url,
          PATH: `${bin}:${process.env['PATH']}`,
        }),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const ended = once(child, 'exit');
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
      const printed = stdout.split(new RegExp(`^${MARK}\\d+\\n`, 'm')).slice(1);
      const last = blocks[printed.length - 1];
      assert.deepEqual(await ended, [0, null], `${file}:${last?.line} failed\n${printed.at(-1)}\n${stderr}`);
      blocks.forEach(({ line, expected }, index) => {
        const shown = printed[index] as string;
        if (expected !== undefined) assert.ok(matches(shown, expected), `${file}:${line} printed\n${shown}`);
      });
    });
  }

  test('docs: cli.md knows every command', async () => {
    const written = readFileSync(join(root, 'docs', 'cli.md'), 'utf8');
    const missing = (await createProgram()).commands
      .map((command) => command.name())
      .filter((name) => !new RegExp(`\`(workron )?${name}\\b`).test(written));
    assert.deepEqual(missing, []);
  });

  test('docs: cli.md has the exit codes of the program', () => {
    const written = readFileSync(join(root, 'docs', 'cli.md'), 'utf8');
    assert.ok(written.includes(EXIT_MEANINGS.map(([code, meaning]) => `| ${code} | ${meaning} |\n`).join('')));
  });
});
