# Completion of krylith for bash: commands, options, and what they take, all as --help lists them, so
# that it knows what the command knows: "--side left|right|split" takes three words, and what is in
# capitals there, as FILE in "ones|row-sums|FILE", is for the user.

# The type of option $2 of the command $3..., or of its positional argument in capitals.
_krylith_type() {
    "$1" "${@:3}" --help 2>/dev/null | sed -n "s/^  $2 \\([^ ]*\\).*/\\1/p"
}

# The commands of krylith, or of the command $2....
_krylith_commands() {
    "$1" "${@:2}" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z0-9_:-]*\)\( .*\)\{0,1\}$/\1/p' | grep .
}

# The words of a type: "range:SEED" begins with "range:".
_krylith_words() {
    tr '|' '\n' <<<"$1" | sed 's/:[A-Z].*/:/' | grep -v '[A-Z]'
}

# Matrices of the gallery, and files that hold matrices, with the folders on the way.
_krylith_matrices() {
    "$1" gallery | sed -n 's/^\(gallery:[^:]*\).*/\1/p'
    compgen -d -S / -- "$2"
    compgen -f -- "$2" | grep -E '\.(mtx|kcsr|npz|npy|petsc|rb|hb|rua|rsa)(\.gz)?$'
}

_krylith() {
    # Words as the command sees them: bash's own end at : and = too.
    local line=${COMP_LINE:0:COMP_POINT} words word before='' choices='' type='' command first=3
    # shellcheck disable=SC2162 # a backslash is the shell's
    read -a words <<<"$line"
    [[ $line != *[[:space:]] ]] || words+=('')
    word=${words[-1]}
    ((${#words[@]} < 3)) || before=${words[-2]}
    command=("${words[1]}")
    if [[ ${words[1]} == bench ]] && ((${#words[@]} > 3)); then
        command+=("${words[2]}")
        first=4
    fi
    if [[ $word == --*=* ]]; then
        before=${word%%=*}
        word=${word#*=}
    fi

    if ((${#words[@]} <= 2)); then
        choices=$(_krylith_commands "$1")
    elif [[ $word == -* ]]; then
        choices=$("$1" "${command[@]}" --help 2>/dev/null | grep -oE -- '^ +(-h,)?--[a-z0-9-]+' |
            grep -oE -- '--[a-z0-9-]+')
    elif [[ ${words[1]} == bench ]] && ((${#words[@]} == 3)); then
        choices=$(_krylith_commands "$1" bench)
    elif [[ $before == --* ]] && type=$(_krylith_type "$1" "$before" "${command[@]}") && [[ $type ]]; then
        choices=$(_krylith_words "$type")
        [[ $type != *FILE* ]] || choices+=$'\n'$(compgen -f -- "$word")
    else
        ((${#words[@]} > first)) || type=$(_krylith_type "$1" '[A-Z]*' "${command[@]}")
        if [[ ${words[1]} == gallery ]]; then
            choices=$("$1" gallery | sed -n 's/^gallery:\([^:]*\).*/\1/p')
        elif [[ $type ]]; then
            choices=$(_krylith_words "$type")
        elif [[ ${words[1]} == convert ]] && ((${#words[@]} > 3)) ||
            { [[ ${words[1]} == multiply || ${words[1]} == add ]] && ((${#words[@]} > 4)); }; then
            choices=$(compgen -f -- "$word")
        else
            choices=$(_krylith_matrices "$1" "$word")
        fi
    fi

    # Bash replaces only what stands behind the last : if its words end there.
    local has='' choice
    [[ $word != *:* || $COMP_WORDBREAKS != *:* ]] || has=${word%:*}:
    COMPREPLY=()
    while IFS= read -r choice; do
        [[ -n $choice && $choice == "$word"* ]] || continue
        COMPREPLY+=("$(printf '%q' "${choice#"$has"}")")
    done <<<"$choices"
    ((${#COMPREPLY[@]} != 1)) || [[ ${COMPREPLY[0]} != *[:/] ]] || compopt -o nospace 2>/dev/null
}
complete -F _krylith krylith
