# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion of fstunectl for bash.

_fstunectl()
{
	local verbs='status list get set auto revert explain pause resume history config metrics doctor verify'
	local common='--runtime-dir= --json --no-pager --no-legend --quiet --version --help'
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local verb='' operands=0 i word
	local -a more=()

	# The shell splits at "=".
	if [[ $cur == '=' ]]; then
		cur=
	elif [[ $prev == '=' ]]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	case $prev in
	--runtime-dir)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return
		;;
	--sort | --output | -o)
		mapfile -t COMPREPLY < <(compgen -W "$(fstunectl status -o help 2>/dev/null)" -- "$cur")
		return
		;;
	--for | --since)
		mapfile -t COMPREPLY < <(compgen -W '10min 1h 1d' -- "$cur")
		return
		;;
	esac

	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		--runtime-dir | --sort | --output | -o | --for | --since)
			[[ ${COMP_WORDS[i + 1]-} == '=' ]] && ((i++))
			((i++))
			;;
		-*) ;;
		*)
			if [[ -z $verb ]]; then
				verb=$word
			else
				((operands++))
			fi
			;;
		esac
	done

	if [[ $cur == -* ]]; then
		case $verb in
		status | '') more=(--all --sort= --output=) ;;
		set | auto) more=(--persist) ;;
		pause) more=(--for=) ;;
		history) more=(--since=) ;;
		metrics) more=(--openmetrics) ;;
		esac
		mapfile -t COMPREPLY < <(compgen -W "$common ${more[*]}" -- "$cur")
		[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
		return
	fi

	case $verb:$operands in
	:0) mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$cur") ;;
	status:0 | get:0 | set:0 | auto:0 | revert:0 | explain:0 | history:0)
		if [[ $cur == /* ]]; then
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			compopt -o filenames
		else
			mapfile -t COMPREPLY < <(compgen -W "$(fstunectl list 2>/dev/null)" -- "$cur")
		fi
		;;
	get:1 | set:1 | auto:1)
		mapfile -t COMPREPLY < <(compgen -W 'force_copy fast_commit checkpoint_merge ckpt_thread_ioprio' -- "$cur")
		;;
	set:2) mapfile -t COMPREPLY < <(compgen -W '0 1' -- "$cur") ;;
	esac
}

complete -F _fstunectl fstunectl
