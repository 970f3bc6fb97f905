# SPDX-License-Identifier: Apache-2.0
# bash completion for coalctl, which knows what can stand where.
_coalctl()
{
	local lines cur=${COMP_WORDS[COMP_CWORD]}

	mapfile -t lines < <(coalctl --complete -- \
	    "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	if [ "${lines[0]-}" = :file ]; then
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	else
		COMPREPLY=("${lines[@]%%$'\t'*}")
	fi
}
complete -F _coalctl coalctl
