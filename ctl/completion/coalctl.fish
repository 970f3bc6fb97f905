# SPDX-License-Identifier: Apache-2.0
# fish completion for coalctl, which knows what can stand where.
function __coalctl
    set -l before (commandline -opc)
    set -l found (coalctl --complete -- $before[2..] (commandline -ct) 2>/dev/null)
    if test "$found[1]" = :file
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $found
    end
end
complete -c coalctl -f -a '(__coalctl)'
