# SPDX-License-Identifier: Apache-2.0
"""Return a TCP port of 127.0.0.1 that no process uses.

The port is below those that the kernel gives to outgoing connections (32768
and up): a server that restarts on its port would find such a connection there.
Two tests that ask at the same time draw from 10,000 ports.
"""
import random
import socket


def free_port():
    while True:
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", random.randrange(20000, 30000)))
                return s.getsockname()[1]
            except OSError:
                continue
