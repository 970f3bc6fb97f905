# SPDX-License-Identifier: Apache-2.0
# What fish completes "coalctl node up" to, by the file in the folder given.
source $argv[1]/coalctl.fish
complete -C 'coalctl node up' | string split -f 1 \t
