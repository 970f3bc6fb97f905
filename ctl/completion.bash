
# The tables above are printed by coalctl itself; this is what uses them.

# Words that are neither options nor their values, up to the cursor, after the
# program's name.
_coalctl_words()
{
	local i word skip=

	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [ -n "$skip" ]; then
			skip=
		elif [[ $word == -* ]]; then
			[[ $_coalctl_valued == *" $word "* ]] && skip=yes
		else
			echo "$word"
		fi
	done
}

# What an option's value may be.
_coalctl_value()
{
	case $1 in
	--campaign) coalctl --complete campaigns 2>/dev/null ;;
	--role) echo "agent collector reader operator" ;;
	--kind) echo "run agent order alarm" ;;
	--ca | --cert | --key | --file) compgen -f -- "$2" ;;
	esac
}

_coalctl()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local words=() verbs kind=none opts= list=

	mapfile -t words < <(_coalctl_words)
	verbs=$(_coalctl_verbs "${words[0]-}")
	_coalctl_row "${words[0]-}${verbs:+ ${words[1]-}}"
	if [[ $_coalctl_valued == *" $prev "* ]]; then
		list=$(_coalctl_value "$prev" "$cur")
	elif [[ $cur == -* ]]; then
		list=${opts:-$_coalctl_global}
	elif [ ${#words[@]} -eq 0 ]; then
		list=$_coalctl_nouns
	elif [ -n "$verbs" ] && [ ${#words[@]} -eq 1 ]; then
		list=$verbs
	elif [ "$kind" = file ]; then
		list=$(compgen -f -- "$cur")
	elif [ "$kind" != none ]; then
		list=$(coalctl --complete "$kind" 2>/dev/null)
	fi
	mapfile -t COMPREPLY < <(compgen -W "$list" -- "$cur")
}
complete -o filenames -F _coalctl coalctl
