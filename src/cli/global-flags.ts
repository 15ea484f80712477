/** Flags that every command of a running Workron takes. They may also be given before the command. */

const WITH_VALUE: readonly string[] = [
  '--url',
  '--profile',
  '--token',
  '--token-file',
  '--ca',
  '--config',
  '--output',
  '-o',
];
const WITHOUT_VALUE: readonly string[] = ['--json', '--quiet', '-q'];
/** bin/workron looks for their secrets after the command. */
const SERVERS: readonly string[] = ['up', 'scheduler', 'worker'];

/** The value of `--json` without one. */
export const ALL_FIELDS = '*';

/** Moves global flags from before the command to the end of its own arguments, before a `--`. */
export function withMovedFlags(args: readonly string[]): string[] {
  let at = 0;
  while (at < args.length) {
    const flag = args[at] as string;
    const [name = ''] = flag.split('=', 1);
    if (WITHOUT_VALUE.includes(name)) at += 1;
    else if (WITH_VALUE.includes(name)) at += flag.includes('=') ? 1 : 2;
    else break;
  }
  const rest = args.slice(at);
  if (at === 0 || rest.length === 0 || SERVERS.includes(rest[0] as string)) return [...args];
  const end = rest.indexOf('--');
  return end < 0 ? [...rest, ...args.slice(0, at)] : [...rest.slice(0, end), ...args.slice(0, at), ...rest.slice(end)];
}

/** Gives every `--json` a value, so that it takes no argument of the command: the next word only if it is a list of fields. */
export function withJsonFields(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  const own = end < 0 ? args : args.slice(0, end);
  const isList = (word = '') => /^[a-z_]+(,[a-z_]+)+$/.test(word);
  const given = own.flatMap((word, index) => {
    if (word === '--json') return isList(own[index + 1]) ? [`--json=${own[index + 1]}`] : [`--json=${ALL_FIELDS}`];
    return own[index - 1] === '--json' && isList(word) ? [] : [word];
  });
  return [...given, ...args.slice(own.length)];
}
