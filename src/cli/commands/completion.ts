import { Argument, Command } from 'commander';
import { print } from '../client-command.ts';

/**
 * `workron __complete WORDS…` prints the values that may follow, one per line, with a tab before a description. It fails if
 * any text may follow; then files are offered.
 */
const SCRIPTS: Readonly<Record<string, string>> = {
  // Bash itself would split words at ":" and "=", and expects only what follows the last of them.
  bash: `_workron() {
  local IFS=$' \\t\\n' line="\${COMP_LINE:0:COMP_POINT}" words last found
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  last="\${words[\${#words[@]}-1]}"
  IFS=$'\\n'
  found=$(workron __complete "\${words[@]:1}" 2>/dev/null) && compopt +o default 2>/dev/null
  COMPREPLY=($(cut -f1 <<< "$found"))
  [[ $last == *[:=]* ]] && COMPREPLY=("\${COMPREPLY[@]#"\${last%"\${last##*[:=]}"}"}")
}
complete -o default -F _workron workron
`,
  zsh: `#compdef workron
_workron() {
  local line value found files=0
  local -a values
  found=$(workron __complete "\${(@)words[2,CURRENT]}" 2>/dev/null) || files=1
  for line in "\${(@f)found}"; do
    [[ -n $line ]] || continue
    value="\${\${line%%$'\\t'*}//:/\\\\:}"
    [[ $line == *$'\\t'* ]] && value+=":\${line#*$'\\t'}"
    values+=("$value")
  done
  if (( files )); then _files; else _describe -V workron values; fi
}
if [[ $funcstack[1] == _workron ]]; then _workron "$@"; else compdef _workron workron; fi
`,
  fish: `function __workron_complete
  set -l found (workron __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
  if test $status -ne 0
    __fish_complete_path (commandline -ct)
  else if set -q found[1]
    printf '%s\\n' $found
  end
end
complete -c workron -f -k -a '(__workron_complete)'
`,
};

/** `workron completion SHELL`: prints the script that completes commands, flags and values as they are typed. */
export function completionCommand(): Command {
  return new Command('completion')
    .description('Print the script that completes commands, flags and live values in a shell')
    .addArgument(new Argument('<shell>', 'Your shell').choices(Object.keys(SCRIPTS)))
    .action((shell: string) => print(SCRIPTS[shell] as string));
}
