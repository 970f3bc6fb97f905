# SPDX-License-Identifier: Apache-2.0
# What zsh completes "coalctl node up" to, by the file in the folder given: its
# list of matches is shown by compadd, for which a stand-in prints the words.
_describe() { print -r -- "${${(P)2}[1]%%:*}" }
_files() { print -r -- files }
words=(coalctl node up) CURRENT=3
source $1/_coalctl
