#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The Ansible role sets up a collector and an agent on one host, in a fresh root
# with systemd as its init. The agent has enrolled. A second run of the play
# changes nothing, and a third one applies the settings of a site.
. "$(dirname "$0")/lib.sh"
need dpkg-deb mmdebstrap systemd-nspawn nsenter
root=$work/ansible-root

play() {
	inside env HOME=/root ANSIBLE_ROLES_PATH=/mnt/roles ansible-playbook \
	    -c local -i /mnt/hosts /mnt/site.yml "$@" 2>&1
}

make_root "$root" ansible-core python3-apt
mkdir -p "$root/mnt/deb" "$root/mnt/roles"
cp "$packages"/coalmine-{collector,agent,probe,probe-openmpi,ctl}_*.deb \
    "$root/mnt/deb"
cp -r "$source_dir/packaging/ansible" "$root/mnt/roles/coalmine"
cat >"$root/mnt/hosts" <<'END'
[coalmine_collector]
node1
[coalmine_agents]
node1
END
cat >"$root/mnt/site.yml" <<'END'
- hosts: all
  roles:
    - role: coalmine
      coalmine_collector_address: 127.0.0.1
      coalmine_mpis: [openmpi]
END
boot "$root" node1 --private-network
ok "network" ip link set lo up
out=$(play) || fail "the play failed
$out"
say "$(tail -n 2 <<<"$out")"
ok "the agent has enrolled" sh -c 'for i in $(seq 240); do
    coalctl node list -s ok | grep -q "^node1 " && exit
    sleep 0.5; done; exit 1'
out=$(play) || fail "the second play failed
$out"
grep -q 'changed=0 ' <<<"$out" || fail "a second play changes something
$out"
say "a second play changes nothing"
out=$(play -e '{"coalmine_collector_settings": {"http": {"listen":
    "127.0.0.1:18888"}}}') || fail "the third play failed
$out"
ok "a setting is there" sh -c 'for i in $(seq 60); do
    coalctl --url http://127.0.0.1:18888 version && exit
    sleep 0.5; done; exit 1'
! play -e '{"coalmine_collector_settings": {"http": {"lisen": "1"}}}' \
    >"$work/ansible.out" || fail "a wrong key is taken"
grep -q 'unknown key' "$work/ansible.out" ||
    fail "no word of the wrong key: $(cat "$work/ansible.out")"
say "a wrong key is refused before it is written"
kill -KILL "$init"
wait "$nspawn"
rm -rf "$root"
