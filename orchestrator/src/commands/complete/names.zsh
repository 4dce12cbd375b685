
_phalanx_names() {
    case "$words[2]" in
        attach|ctl|topic|service)
            if (( CURRENT > 2 )) && [[ "$words[CURRENT]" != -* ]]; then
                local -a names
                names=("${(@f)$(phalanx complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
                if [[ -n "$names[1]" ]]; then
                    compadd -a names
                    return
                fi
            fi
            ;;
    esac
    _phalanx "$@"
}
compdef _phalanx_names phalanx
