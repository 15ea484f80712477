/** The settings as text, for docs/configuration.md and `workron help environment`. */

import { envName, SETTINGS, type Setting } from './settings.ts';

const INTRO = `# Configuration

<!-- Written by \`workron help config\`; change src/ops/settings/ instead. -->

Every setting has one name in three spellings: the flag \`--reap-every\`, the variable \`WORKRON_REAP_EVERY\`, and the key
\`reap-every:\` in the settings file. The flag wins over the variable, the variable over the file, the file over the
default. Unknown flags, \`WORKRON_…\` variables and keys are errors, with a suggestion. An empty variable counts as not set.

The settings file is \`./workron.yaml\` if it exists; \`--config FILE\` or \`WORKRON_CONFIG\` names another, which must
exist. Lists may be written as YAML lists, \`resources\` as a map. One file can serve all commands: each command reads
the settings that apply to it. A \`./workron.yaml\` that nobody named cannot send a token of yours to an address, nor name
\`handlers\`, nor a \`ca\` that your token goes to: the folder may be somebody else's. Name it with \`--config ./workron.yaml\` for that. A \`token\` in the same file
and a \`token-file\` in the same folder may go to such an address: they are the folder's own.

\`\`\`yaml
port: 9000
db-url: sqlite:./data/workron.db
queues: [default, mail]
resources:
  memory_mb: 4096
retention-done: 3d
\`\`\`

Durations are written \`250ms\`, \`90s\`, \`1h30m\`, \`7d\`, or as a whole number of milliseconds. Relative paths are
relative to the working directory.
`;

const STORE_NOTES = `
\`db-url\` alone decides the store: \`postgres://…\` is PostgreSQL, \`memory:\` memory, \`sqlite:FILE\` or a plain path
SQLite. A \`db-driver\` that contradicts it is an error. \`DATABASE_URL\` is used only if it names a PostgreSQL database
and no other setting selects another store; \`workron up\` prints which store it uses. Jobs in memory are lost when the
process ends.
`;

const OUTRO = `
## Other variables

| variable | meaning |
|---|---|
| \`WORKRON_CONFIG\` | the settings file |
| \`NO_COLOR\`, \`FORCE_COLOR\` | disable colours, or enable them in a pipe |

Inside a job (\`WORKRON_JOB_ID\` is set) unknown \`WORKRON_…\` variables are ignored, so that a job can call \`workron\`.
Each command gets \`WORKRON_JOB_ID\`, \`WORKRON_ATTEMPT\`, \`WORKRON_QUEUE\`, \`WORKRON_OUTPUT\`, the files of
[checkpoints](checkpoints.md), \`WORKRON_NAME\` if it has a
name, and as a step \`WORKRON_WORKFLOW_ID\` and \`WORKRON_STEP\`; never the server's token or database URL.
`;

/** The content of docs/configuration.md. */
export function configurationMarkdown(): string {
  let text = INTRO;
  for (const [group, settings] of grouped()) {
    text += `\n## ${group}\n\n| setting | default | commands | meaning |\n|---|---|---|---|\n`;
    for (const setting of settings) text += row(setting);
    if (group === 'Store') text += STORE_NOTES;
  }
  return text + OUTRO;
}

/** One entry per variable, with its default and description. */
export function environmentText(): string {
  const settings: Setting<unknown>[] = Object.values(SETTINGS);
  const lines = settings.map((setting) => `${envName(setting.name)}  (${setting.defaultText})\n    ${plain(setting)}`);
  return `${lines.join('\n')}\nWORKRON_CONFIG  (./workron.yaml)\n    The settings file.\n`;
}

function row(setting: Setting<unknown>): string {
  const commands = setting.commands
    .map((command) => (command === 'client' ? 'all others' : `\`${command}\``))
    .join(', ');
  const flag = `\`--${setting.name} ${setting.value.replaceAll('|', '\\|')}\``;
  return `| ${flag}<br>\`${envName(setting.name)}\` | ${setting.defaultText} | ${commands} | ${plain(setting)} |\n`;
}

function plain(setting: Setting<unknown>): string {
  return setting.fallback === undefined
    ? setting.sentence
    : `${setting.sentence} Also taken from \`${setting.fallback}\`.`;
}

function grouped(): Map<string, Setting<unknown>[]> {
  const all: Setting<unknown>[] = Object.values(SETTINGS);
  return Map.groupBy(all, (setting) => setting.group);
}
