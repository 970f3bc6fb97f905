# SPDX-License-Identifier: Apache-2.0
"""NCCL's RAS data of a job, from its processes to coalctl job show: a real
agent reads a fake RAS port. The collector reports the silent rank, the stalled
job, and a reply that cannot be interpreted."""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from collector import BUILD, Collector, free_port, poll  # noqa: E402
from users import coalctl  # noqa: E402

STANDIN = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "../../fake/ras.py")


def main():
    now = int(time.time())
    with Collector() as c:
        c.issue("node1", "agent")
        port, how = free_port(), c.dir + "/how"

        def say(text):
            with open(how + ".new", "w") as f:
                f.write(text)
            os.rename(how + ".new", how)

        c.options.update({
            "jobs.source": "command", "jobs.interval": "1s",
            "jobs.command": f"echo '7|ann|RUNNING|{now - 600}||node1|x'"})
        c.start()
        say("missing 2")
        job = subprocess.Popen([sys.executable, STANDIN, str(port), how],
                               env=dict(os.environ, SLURM_JOB_ID="7"))
        args = [BUILD + "/agents/coalmine-agent", "--config", "/dev/null"]
        for key, value in {
                "agent.name": "node1", "agent.ras_port": port,
                "agent.collector": f"127.0.0.1:{c.port}",
                "agent.state_dir": c.dir + "/agent",
                "agent.run_dir": c.dir + "/agent/run",
                "children.user": "", "agent.user": "",
                "tls.ca": c.pki + "/ca.pem",
                "tls.cert": c.pki + "/node1.pem",
                "tls.key": c.pki + "/node1.key"}.items():
            args += ["-o", f"{key}={value}"]
        os.mkdir(c.dir + "/agent")
        with open(c.dir + "/agent.log", "w") as log:
            agent = subprocess.Popen(args, stdout=log, stderr=log)
        try:
            show(c, say)
        except BaseException:
            sys.stderr.write(open(c.dir + "/agent.log").read())
            raise
        finally:
            agent.kill()
            job.kill()
            agent.wait()
            job.wait()
        c.stop()
    return 0


def show(c, say):
    def state():
        jobs = c.get("jobs/nccl")
        return jobs[0]["state"] if jobs else ""

    def text():
        return coalctl(c, "job", "show", "7")

    poll("a silent rank", 150, lambda: state() == "silent")
    assert "NCCL 2.28.9, 1 communicator, status at " in text(), text()
    assert "communicator 0x14c0626c of 4 ranks: rank 2 (node node1, GPU 2) " \
        "has not answered since " in text(), text()
    poll("an event", 30, lambda: c.get("events?kind=job"))
    event, = c.get("events?kind=job")
    assert event["subject"] == "7" and "rank 2 (node" in event["text"], event
    assert "job 7: ranks do not answer NCCL" in "\n".join(
        d["text"] for d in c.get("diags"))
    say("progresses 4096")
    poll("progress", 150, lambda: state() == "progresses")
    poll("its event", 30, lambda: "progresses again" in "\n".join(
        e["text"] for e in c.get("events?kind=job")))
    say("stalled")
    poll("a stall", 200, lambda: state() == "stalled")
    assert "no rank is behind, and no collective has been launched since " in \
        text(), text()
    page = subprocess.run(
        ["curl", "-sS", "--unix-socket", c.socket,
         "http://localhost/metrics"], capture_output=True, text=True,
        check=True).stdout
    assert 'coalmine_jobs_nccl{state="stalled"} 1' in page, page
    say("version 3.1.4")
    poll("an unknown version", 250, lambda: state() == "unread")
    assert "NCCL 3.1.4" in text() and "cannot interpret" in text(), text()


if __name__ == "__main__":
    sys.exit(main())
