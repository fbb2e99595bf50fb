# Completion of `reeve` for fish: asks `reeve complete`, which knows the commands, their options, and what Redis has.
function __reeve_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    for line in ($program complete -- $words 2>/dev/null </dev/null)
        if test "$line" = ":files"
            __fish_complete_path (commandline -ct)
        else
            printf '%s\n' $line
        end
    end
end
complete -c reeve -f -a '(__reeve_complete)'
