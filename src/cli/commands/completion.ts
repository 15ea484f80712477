import { Argument, Command } from 'commander';
import { print } from '../client-command.ts';

/** `workron __complete WORDS…` prints the values that may follow, one per line, with a tab before a description. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_workron() {
  local IFS=$'\\n'
  COMPREPLY=($(workron __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _workron workron
`,
  zsh: `#compdef workron
_workron() {
  local line
  local -a values
  for line in "\${(@f)$(workron __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && values+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#values} )); then _describe workron values; else _files; fi
}
compdef _workron workron
`,
  fish: `complete -c workron -a '(workron __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

/** `workron completion SHELL`: prints the script that completes commands, flags and values as they are typed. */
export function completionCommand(): Command {
  return new Command('completion')
    .description('Print the script that completes commands, flags and live values in a shell')
    .addArgument(new Argument('<shell>', 'Your shell').choices(Object.keys(SCRIPTS)))
    .action((shell: string) => print(SCRIPTS[shell] as string));
}
