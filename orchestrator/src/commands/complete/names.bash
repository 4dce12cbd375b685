
_phalanx_names() {
    local cur words cword
    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref -n : cur words cword
    else
        cur="${COMP_WORDS[COMP_CWORD]}" words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
    fi
    case "${words[1]}" in
        attach|ctl|topic|service)
            if [[ $cword -gt 1 && $cur != -* ]]; then
                mapfile -t COMPREPLY < <(phalanx complete -- "${words[@]:1:cword}" 2>/dev/null)
                if [[ ${#COMPREPLY[@]} -gt 0 ]]; then
                    declare -F __ltrim_colon_completions >/dev/null &&
                        __ltrim_colon_completions "$cur"
                    return 0
                fi
            fi
            ;;
    esac
    _phalanx "$@"
}
complete -F _phalanx_names -o bashdefault -o default phalanx
