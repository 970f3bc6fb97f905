# SPDX-License-Identifier: Apache-2.0
"""ras.py PORT FILE: a stand-in of the RAS of NCCL 2.28.9 in one process of a
job of ranks on 127.0.0.1. FILE says how the job is, a word and a number:

    progresses RANKS  counts of a job of that size grow with every reply
    stalled           they do not
    missing RANK      that rank does not answer, and counts do not grow
    version NUMBER    a reply of that version of NCCL, of unknown structure
"""
import json
import os
import socket
import sys
import threading

SIZE = 4


def rank(i, missing, launched):
    o = {"rank": i, "host": "127.0.0.1", "pid": os.getpid(), "cuda_dev": i % 8,
         "nvml_dev": i % 8}
    if missing:
        o["status"] = {"unresponsive": True, "considered_dead": False}
    else:
        o["status"] = {"init_state": 0, "async_error": 0,
                       "finalize_called": False, "destroy_flag": False,
                       "abort_flag": False}
        o["collective_counts"] = {"Broadcast": 1, "AllReduce": launched}
    return o


def as_json(size, lost, launched):
    missing = [i for i in range(size) if i == lost]
    ranks = [i for i in range(size) if i != lost]
    text = json.dumps({
        "nccl_version": "2.28.9", "cuda_runtime_version": 13000,
        "communicators_count": 1, "communicators": [{
            "hash": "0x14c0626c9f13fb69", "size": size,
            "ranks_count": len(ranks), "missing_ranks_count": len(missing),
            "ranks": [rank(i, 0, launched) for i in ranks],
            "missing_ranks": [rank(i, 1, 0) for i in missing]}],
        "ras": {"collection_time_sec": 0.0, "timeouts_count": 0}}, indent=2)
    for i in missing:  # as this version prints it
        at = text.index('"missing_ranks": [')
        text = text[:at] + text[at:].replace(
            f'"nvml_dev": {i % 8},', f'"nvml_dev": {i % 8}', 1)
    return text + "\n"


class Job:
    launched = 100


def answer(c, path):
    with open(path) as f:
        word, _, number = f.read().strip().partition(" ")
    got = b""
    while b"STATUS\n" not in got.upper():
        more = c.recv(4096)
        if not more:
            return
        got += more
    lines = got.decode().upper().splitlines()
    is_json = "SET FORMAT JSON" in lines
    c.sendall(b"SERVER PROTOCOL 2\n" + b"OK\n" * (1 + is_json))
    if word == "version":
        c.sendall(b'{"nccl_version": "%s", "jobs": {}}' % number.encode()
                  if is_json else
                  b"NCCL version %s\nWarnings\n" % number.encode())
        return
    if word == "progresses":
        Job.launched += 7
    size = int(number) if word == "progresses" else SIZE
    lost = int(number) if word == "missing" else None
    c.sendall(as_json(size, lost, Job.launched).encode())


def serve(c, path):
    try:
        with c:
            answer(c, path)
    except OSError:
        pass


def main():
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.bind(("127.0.0.1", int(sys.argv[1])))
    s.listen(64)
    while True:
        c, _ = s.accept()
        threading.Thread(target=serve, args=(c, sys.argv[2]),
                         daemon=True).start()


if __name__ == "__main__":
    main()
