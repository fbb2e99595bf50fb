# Completion of `reeve` for bash: asks `reeve complete`, which knows the commands, their options, and what Redis has.
_reeve() {
    local line candidate
    COMPREPLY=()
    # A word with ':' or '=' stays whole, although bash splits it.
    local words cword cur
    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref -n := cur words cword
    else
        words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]}
    fi
    while IFS= read -r line; do
        if [ "$line" = ":files" ]; then
            compopt -o filenames 2>/dev/null
            while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -f -- "$cur")
            continue
        fi
        candidate=${line%%$'\t'*}
        case $candidate in */) compopt -o nospace 2>/dev/null ;; esac
        COMPREPLY+=("$(printf '%q' "$candidate")")
    done < <("${words[0]}" complete -- "${words[@]:1:cword}" 2>/dev/null </dev/null)
    if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "$cur"; fi
}
complete -F _reeve reeve
