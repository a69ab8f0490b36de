# Completion of krylith for bash: commands and options as --help lists them, gallery names, files.
_krylith() {
    local word=${COMP_WORDS[COMP_CWORD]} choices
    if ((COMP_CWORD == 1)); then
        choices=$("$1" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z0-9-]*\) .*/\1/p')
    elif [[ $word == -* ]]; then
        choices=$("$1" "${COMP_WORDS[1]}" --help 2>/dev/null | grep -oE -- '^ +(-h,)?--[a-z0-9-]+' |
            grep -oE -- '--[a-z0-9-]+')
    elif [[ "${COMP_WORDS[*]: -3}" == *gallery* ]]; then # bash splits words at colons
        choices=$("$1" gallery | sed -n 's/^gallery:\([^:]*\).*/\1/p')
        [[ $word != : ]] || word=
    fi
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
    [[ $word == -* ]] || ((COMP_CWORD == 1)) || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word")
}
complete -o filenames -F _krylith krylith
