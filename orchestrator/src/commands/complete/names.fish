
complete -c phalanx -f -n "__fish_seen_subcommand_from attach ctl topic service" \
    -a "(phalanx complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)"
