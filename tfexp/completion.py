"""`python -m tfexp.completion bash|zsh`: print the script that completes `python -m tfexp …` in a shell.

  source <(python -m tfexp.completion bash)    in ~/.bashrc, or for this shell
  source <(python -m tfexp.completion zsh)     in ~/.zshrc, after compinit

Groups, choices, settings, values, flags, and folders of runs complete, for python -m tfexp, tfexp.explain, tfexp.preview,
tfexp.records and the command tfexp; of the configuration that stands on the line so far, choices of one's own included
(--config-dir, model.target=…). Other calls of python complete as they did before.
"""

from __future__ import annotations

import shlex
import sys

from tfexp.experiment.choices import commands
from tfexp.experiment.completing import candidates
from tfexp.usage import helped, while_read

_USAGE = "usage: python -m tfexp.completion bash|zsh"
_WITHOUT_TFEXP = (
    "import importlib.util,sys,types;"
    'm=types.ModuleType("tfexp");'
    'm.__path__=importlib.util.find_spec("tfexp").submodule_search_locations;'
    'sys.modules["tfexp"]=m;'
    "from tfexp.completion import answer;"
    "answer(sys.argv[1:])"
)
"""The program that answers: `tfexp` is a package without contents, so that NumPy is not loaded for a key."""

_BASH = r"""# bash completion for tfexp; made by: python -m tfexp.completion bash
__tfexp_program=PROGRAM
__tfexp_complete() {
    local line=${COMP_LINE:0:COMP_POINT} python rest module
    if [[ $line =~ ^[[:space:]]*([^[:space:]]*python[0-9.]*)[[:space:]]+-m[[:space:]]+(tfexp[.a-z]*)(.*)$ ]]; then
        python=${BASH_REMATCH[1]} module=${BASH_REMATCH[2]} rest=${BASH_REMATCH[3]}
    elif [[ $line =~ ^[[:space:]]*tfexp([[:space:]].*)$ ]]; then
        python=PYTHON module=tfexp rest=${BASH_REMATCH[1]}
    else
        local before=${__tfexp_before[$1]-}
        [[ -n $before ]] && "$before" "$@"
        return
    fi
    local word=${rest##*[[:space:]]} found cut
    [[ -z $rest ]] && word=$module
    # bash completes what stands behind the last of its word breaks
    cut=${word%"${word##*[=:]}"}
    COMPREPLY=()
    while IFS=$'\t' read -r found _; do
        COMPREPLY+=("${found#"$cut"}")
    done < <("$python" -c "$__tfexp_program" "$module" "$rest" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *[=./] ]] && compopt -o nospace 2>/dev/null
}
declare -A __tfexp_before
for __tfexp_name in python python3 tfexp; do
    if ! complete -p "$__tfexp_name" &>/dev/null && declare -F _completion_loader >/dev/null; then
        _completion_loader "$__tfexp_name" &>/dev/null
    fi
    if [[ $(complete -p "$__tfexp_name" 2>/dev/null) =~ -F[[:space:]]([^[:space:]]+) ]]; then
        [[ ${BASH_REMATCH[1]} != __tfexp_complete ]] && __tfexp_before[$__tfexp_name]=${BASH_REMATCH[1]}
    fi
    complete -o default -o bashdefault -o nosort -F __tfexp_complete "$__tfexp_name" 2>/dev/null ||
        complete -o default -o bashdefault -F __tfexp_complete "$__tfexp_name"
done
unset __tfexp_name
"""

_ZSH = r"""# zsh completion for tfexp; made by: python -m tfexp.completion zsh
__tfexp_program=PROGRAM
__tfexp_complete() {
    local python module rest found word says
    local -a words_so_far=("${(@)words[1,CURRENT-1]}") more more_says open open_says
    word=${words[CURRENT]}
    if [[ ${words[1]} == *python* && ${words[2]} == -m && ${words[3]} == tfexp* ]]; then
        python=${words[1]} module=${words[3]}
        (( CURRENT == 3 )) && rest="" || rest=" ${(j: :)words_so_far[4,-1]} $PREFIX"
        (( CURRENT == 3 )) && module=$PREFIX
    elif [[ ${words[1]} == tfexp ]]; then
        python=PYTHON module=tfexp rest=" ${(j: :)words_so_far[2,-1]} $PREFIX"
    else
        (( $+functions[_python] )) || autoload -Uz _python
        _python "$@"
        return
    fi
    while IFS=$'\t' read -r found says; do
        if (( ${#found} < 32 )); then says="${(r:32:)found}  $says"; else says="$found  $says"; fi
        if [[ $found == *[=./] ]]; then
            open+=("$found") open_says+=("$says")
        else
            more+=("$found") more_says+=("$says")
        fi
    done < <("$python" -c "$__tfexp_program" "$module" "$rest" 2>/dev/null)
    (( $#open )) && compadd -S '' -l -d open_says -a open
    (( $#more )) && compadd -l -d more_says -a more
    (( $#open + $#more )) || _files
}
compdef __tfexp_complete python python3 tfexp
"""


def answer(arguments: list[str]) -> None:
    """Print the candidates for the last word of a line, one to a line, each with what it says after a tab.

    `arguments` are the module, and all of the line that stands behind it.
    """
    module, rest = arguments
    if not rest:  # the module's own name is being written
        names = [("tfexp", "run experiments"), *((call.split()[2], says) for call, says in commands())]
        found = [(name, says) for name, says in names if name.startswith(module)]
    else:
        words = rest.split()
        word = "" if rest[-1].isspace() else words.pop()
        found = [(candidate.word, candidate.says) for candidate in candidates(module, words, word)]
    for name, says in found:
        print(f"{name}\t{says}")


def main(argv: list[str] | None = None) -> int:
    """Print the script for the shell that the argument names; the exit status is 2 for others."""
    words = sys.argv[1:] if argv is None else argv
    scripts: dict[str, str] = {"bash": _BASH, "zsh": _ZSH}
    if (code := helped(words, _USAGE, __doc__)) is not None:
        return code
    if len(words) != 1 or words[0] not in scripts:
        print(f"tfexp.completion: there are scripts for bash and zsh\n{_USAGE}", file=sys.stderr)
        return 2
    script = scripts[words[0]].replace("PROGRAM", shlex.quote(_WITHOUT_TFEXP), 1)
    print(script.replace("python=PYTHON", f"python={shlex.quote(sys.executable)}"), end="")
    return 0


if __name__ == "__main__":
    sys.exit(while_read(main))
