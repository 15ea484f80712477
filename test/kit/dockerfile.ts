/** Reads a Dockerfile: its stages with their instructions, in order. Knows what ours uses, and fails on anything else. */

export interface Instruction {
  name: string;
  text: string;
}

export interface Stage {
  from: string;
  as: string | null;
  instructions: Instruction[];
}

const KNOWN = /^(WORKDIR|COPY|RUN|USER|VOLUME|ENV|EXPOSE|STOPSIGNAL|HEALTHCHECK|ENTRYPOINT|CMD)$/;

export function readDockerfile(text: string): Stage[] {
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: Stage[] = [];
  for (const line of lines) {
    const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') {
      const [from = '', , as = null] = rest.split(/\s+/);
      stages.push({ from, as, instructions: [] });
    } else {
      if (!KNOWN.test(name)) throw new Error(`unexpected instruction: ${line}`);
      stages.at(-1)?.instructions.push({ name, text: rest });
    }
  }
  return stages;
}
