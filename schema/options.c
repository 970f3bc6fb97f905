/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - rows of coalmined.conf, coalmine-agent.conf and registered MPIs,
 * and questions about kinds of campaigns.
 */
#include "schema/options.h"

#include <string.h>

#include "common/str.h"
#include "schema/machines.h"
#include "schema/names_gpu.h"
#include "schema/names_probe.h"
#include "schema/promise.h"

#define DAY_S    86400.0
#define GIB      (1024.0 * 1024 * 1024)
#define PORT_MAX 65535

#define NO_COPY                                                                \
	"for a store that outlives its machine use PostgreSQL with standby "   \
	"collectors (store.url, store.lease)"

const struct conf_row options_daemon[] = {
	{ "collector", "listen", CONF_ADDRESS, 1, 200, NULL, "0.0.0.0:17700",
	    "",
	    "Address and port for connections of agents (mutual TLS). Use "
	    "[::]:17700 if agents have IPv6 addresses." },
	{ "collector", "state_dir", CONF_STRING, 1, 4000, NULL,
	    "/var/lib/coalmine", "",
	    "Directory of the store, on a local file system." },
	{ "collector", "campaign_dir", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/campaigns", "",
	    "Directory of the campaign files, NAME.conf." },
	{ "collector", "log", CONF_CHOICE, 0, 0, "error|warn|info|debug|trace",
	    "info", "",
	    "Log level: messages of this level and of more severe ones are "
	    "logged." },
	{ "collector", "agents_max", CONF_INT, 1, 100000, NULL, "24000", "1",
	    "Maximum number of connections from agents. Further ones are "
	    "rejected." },
	{ "collector", "heartbeat", CONF_SPAN, 0.1, 60, NULL, "2s", "s",
	    "Interval of heartbeats between the collector and every agent. The "
	    "interval must be at least 1/2000 s times the number of nodes, for "
	    "example 10s with 20,000 nodes." },
	{ "collector", "silence", CONF_SPAN, 0.5, 600, NULL, "10s", "s",
	    "Timeout of agents: an agent without contact for this long is "
	    "lost. The timeout is at least 2.5 heartbeat intervals." },
	{ "cluster", "name", CONF_STRING, 0, 40, NULL, "", "",
	    "Name of the cluster, if a site has several: letters a to z, "
	    "digits and _, starting with a letter. All collectors of one "
	    "cluster have the same name; no two clusters share one. With "
	    "store.url the name is used in place of store.schema, and "
	    "coalctl cluster list shows all named clusters of that database. "
	    "Empty: a single cluster." },
	{ "cluster", "url", CONF_URLS, 0, 400, NULL, "", "",
	    "Address of this collector to which coalctl --cluster connects, "
	    "for example https://collector:17702. Empty: the host name with "
	    "the port of http.tls_listen." },
	{ "tls", "ca", CONF_STRING, 1, 4000, NULL, "/etc/coalmine/pki/ca.pem",
	    "",
	    "Certificate of the site's authority, which signs the "
	    "certificates of collectors, agents and users. Every holder of a "
	    "certificate with role operator can start and stop runs." },
	{ "tls", "cert", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/pki/collector.pem", "",
	    "Certificate of this collector." },
	{ "tls", "key", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/pki/collector.key", "",
	    "Private key of tls.cert. If the collector cannot read the file, "
	    "it uses the systemd credential with the same file name." },
	{ "tls", "crl", CONF_STRING, 0, 4000, NULL, "", "",
	    "Certificate revocation lists (PEM), one for each authority of "
	    "tls.ca. SIGHUP reloads the file and closes the sessions of "
	    "agents with a revoked certificate. Empty: revocation is not "
	    "checked." },
	{ "enroll", "ca", CONF_STRING, 0, 4000, NULL, "", "",
	    "Certificate of the authority for enrolment, which signs the "
	    "certificates of new nodes and of agents that renew their "
	    "certificates: enroll.pem, as made by coalctl pki enroller. "
	    "Empty: enrolment is disabled." },
	{ "enroll", "key", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/pki/enroll.key", "",
	    "Private key of enroll.ca. If the collector cannot read the "
	    "file, it uses the systemd credential with the same file name." },
	{ "enroll", "life", CONF_SPAN, 10, 3650 * DAY_S, NULL, "90d", "s",
	    "Validity of certificates issued by enrolment. Agents renew them "
	    "after two thirds of this time." },
	{ "enroll", "munge_users", CONF_STRING, 0, 400, NULL, "", "",
	    "Users, by name or number, whose munge credentials are accepted "
	    "for enrolment, for example root. A credential enrols only the "
	    "node at the address where it was made. Empty: enrolment by "
	    "munge is disabled. Read at the start only." },
	{ "enroll", "munge_socket", CONF_STRING, 0, 100, NULL, "", "",
	    "Unix socket of the munge daemon. Empty: the default of "
	    "libmunge." },
	{ "http", "listen", CONF_ADDRESS, 0, 200, NULL, "127.0.0.1:17701", "",
	    "Address and port of the read-only HTTP server: web page, "
	    "Prometheus metrics and API. Empty: disabled." },
	{ "http", "socket", CONF_STRING, 0, 100, NULL,
	    "/run/coalmine/coalmined.sock", "",
	    "Unix socket on which coalctl, run by root or by the collector's "
	    "own user, can give orders. Empty: disabled." },
	{ "http", "tls_listen", CONF_ADDRESS, 0, 200, NULL, "", "",
	    "Address and port of the HTTPS server for coalctl on other "
	    "hosts; it requires client certificates. Empty: disabled." },
	{ "http", "hosts", CONF_STRING, 0, 2000, NULL, "", "",
	    "Host names, separated by commas, by which clients may address "
	    "http.listen, in addition to IP addresses, localhost and the "
	    "host name. Requests with other Host headers are rejected (DNS "
	    "rebinding protection)." },
	{ "http", "connections_max", CONF_INT, 1, 100000, NULL, "256", "1",
	    "Maximum number of concurrent HTTP connections." },
	{ "alerts", "webhook", CONF_URLS, 0, 2000, NULL, "", "",
	    "URLs, separated by commas, that receive alerts about outliers, "
	    "lost agents and the collector itself, in the format of "
	    "Alertmanager's webhooks. Empty: none." },
	{ "alerts", "page", CONF_URLS, 0, 400, NULL, "", "",
	    "Public URL of the collector's web page, for links in alerts, "
	    "for example http://collector:17701/." },
	{ "events", "webhook", CONF_URLS, 0, 2000, NULL, "", "",
	    "URLs, separated by commas, that receive each event as a "
	    "CloudEvent; see coalmine-output(7). Empty: none." },
	{ "events", "nats", CONF_STRING, 0, 2000, NULL, "", "",
	    "NATS servers with JetStream, separated by commas, for example "
	    "nats://n1:4222 or tls://n1:4222. Needs coalmine-sink-nats." },
	{ "events", "kafka", CONF_STRING, 0, 2000, NULL, "", "",
	    "Kafka brokers, separated by commas, for example k1:9092. Needs "
	    "coalmine-sink-kafka." },
	{ "events", "topic", CONF_STRING, 1, 200, NULL, "coalmine", "",
	    "Topic of Kafka to which events are sent, and first part of the "
	    "subject for NATS, as in coalmine.verdict." },
	{ "events", "source", CONF_STRING, 0, 200, NULL, "", "",
	    "Attribute source of the events (CloudEvents), a URI reference. "
	    "Empty: /coalmine/ and cluster.name, or the host name if "
	    "cluster.name is empty. Set events.source if a standby on another "
	    "host can take over and cluster.name is empty." },
	{ "events", "keep", CONF_SPAN, 60, 3650 * DAY_S, NULL, "7d", "s",
	    "Time for which an event is kept and retried if a sink does not "
	    "accept the event. After this time the event is dropped and "
	    "counted. At most store.retention." },
	{ "events", "behind", CONF_SPAN, 5, 365 * DAY_S, NULL, "10m", "s",
	    "Maximum delay of a sink (a webhook, NATS or Kafka). If the oldest "
	    "event of a sink has waited for longer, coalctl diags reports the "
	    "sink, and the other sinks receive an event about the delay." },
	{ "events", "ca", CONF_STRING, 0, 4000, NULL, "", "",
	    "File with the authorities (PEM) that sign the certificates of "
	    "sinks. Empty: the system's authorities." },
	{ "events", "cert", CONF_STRING, 0, 4000, NULL, "", "",
	    "Certificate that the collector presents to sinks. Empty: none." },
	{ "events", "key", CONF_STRING, 0, 4000, NULL, "", "",
	    "Private key of events.cert." },
	{ "events", "nats_credentials", CONF_STRING, 0, 4000, NULL, "", "",
	    "File with the user credentials for NATS (.creds). Empty: none." },
	{ "events", "kafka_properties", CONF_STRING, 0, 4000, NULL, "", "",
	    "File of additional librdkafka properties, key=value, for example "
	    "security.protocol=sasl_ssl. Empty: none." },
	{ "links", "interval", CONF_SPAN, 0, DAY_S, NULL, "5m", "s",
	    "Interval at which agents read the error counters of all network "
	    "ports and GPUs. 0: never." },
	{ "store", "url", CONF_STRING, 0, 2000, NULL, "", "",
	    "PostgreSQL database of the store, for example "
	    "postgresql://coalmine@db1,db2/coalmine?passfile=/etc/coalmine/"
	    "pgpass. "
	    "Needs coalmine-store-postgresql. Empty: a file in "
	    "collector.state_dir." },
	{ "store", "schema", CONF_STRING, 1, 63, NULL, "coalmine", "",
	    "Schema in the database of store.url. If cluster.name is set, "
	    "that name is used instead." },
	{ "store", "lease", CONF_SPAN, 0, 3600, NULL, "0s", "s",
	    "Leader lease, at least 2s, for failover between collectors of one "
	    "cluster with the same store.url and store.schema. A collector "
	    "that is active and cannot reach the database for this long stops "
	    "giving orders, and a standby takes over. Set the same value on "
	    "all these collectors. 0s: no standby; a second collector is "
	    "rejected." },
	{ "store", "retention", CONF_SPAN, 3600, 3650 * DAY_S, NULL, "90d", "s",
	    "Age at which records are deleted. While the clock is more than "
	    "a day ahead of the newest stored record, nothing is deleted, "
	    "for a week at most, and an alarm is raised." },
	{ "store", "raw_retention", CONF_SPAN, 3600, 3650 * DAY_S, NULL, "7d",
	    "s",
	    "Age at which details are deleted: records of single rounds, "
	    "counters, and the lists of nodes and pairs in records of "
	    "background runs. At this age the records of the mesh are merged "
	    "into one record an hour." },
	{ "store", "free_min", CONF_BYTES, 0, 1024 * GIB, NULL, "64M", "bytes",
	    "Minimum free disk space. With less, the collector stops writing "
	    "to the store and raises an alarm. No effect with store.url." },
	{ "quota", "run_records", CONF_INT, 10, 1000000000, NULL, "1000000",
	    "1",
	    "Maximum number of records of a run. A head node that sends more "
	    "is not trusted: the run fails, and its further records are "
	    "dropped. The same limit holds for late records of finished runs, "
	    "for each node and hour." },
	{ "quota", "run_bytes", CONF_BYTES, 65536, 1024 * GIB, NULL, "2G",
	    "bytes",
	    "Maximum size of the records of a run. A run with more fails, as "
	    "with quota.run_records." },
	{ "quota", "queue", CONF_BYTES, 2.0 * 1024 * 1024, GIB, NULL, "4M",
	    "bytes",
	    "Maximum data that waits in the collector to be sent to one agent. "
	    "If more data waits because the agent reads too slowly, the "
	    "session of the agent is closed." },
	{ "budget", "bytes", CONF_BYTES, 0, 1024.0 * 1024 * 1024 * GIB, NULL,
	    "0", "bytes",
	    "Bytes that all runs together may send in an hour. 0: no limit." },
	{ "budget", "node_seconds", CONF_REAL, 0, 1e12, NULL, "0", "s",
	    "Node time that all runs together may use in an hour: the number "
	    "of nodes times seconds. 0: no limit." },
	{ "budget", "link_share", CONF_REAL, 0, 1, NULL, "0", "1",
	    "Share of the bandwidth of a node's link that runs may use, "
	    "averaged over an hour; 0.1 is 10 %. 0: no limit." },
	{ "budget", "blackout", CONF_STRING, 0, 400, NULL, "", "",
	    "Periods without exclusive runs, UTC, for example 08:00-18:00 or "
	    "2026-12-24..2026-12-26." },
	{ "reaction", "action", CONF_CHOICE, 0, 0, "none|command|slurm-drain",
	    "none", "",
	    "Action on a node whose verdict is bad: none, command "
	    "(reaction.command) or slurm-drain (drain the node in Slurm)." },
	{ "reaction", "dry_run", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Whether actions are only written to the event log, and not "
	    "executed." },
	{ "reaction", "undo", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Whether the action is undone when the verdict is ok again. Only "
	    "actions of the collector are undone." },
	{ "reaction", "command", CONF_STRING, 0, 4000, NULL, "", "",
	    "Shell command for action = command. Its environment has "
	    "COALMINE_NODE, COALMINE_VERDICT (bad; ok to undo) and "
	    "COALMINE_TEXT, the reason." },
	{ "reaction", "nodes_per_hour", CONF_INT, 0, 1000, NULL, "4", "nodes",
	    "Maximum number of nodes with a reaction in an hour." },
	{ "reaction", "share_per_hour", CONF_REAL, 0, 1, NULL, "0.02", "1",
	    "Maximum share of all nodes with a reaction in an hour, rounded "
	    "up." },
	{ "slurm", "dir", CONF_STRING, 1, 4000, NULL, "/usr/bin", "",
	    "Directory of Slurm's commands: sinfo, squeue, sacct, scontrol "
	    "and scancel." },
	{ "slurm", "conf", CONF_STRING, 0, 4000, NULL, "", "",
	    "Path of slurm.conf for Slurm's commands. Empty: Slurm's "
	    "default." },
	{ "slurm", "idle", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Whether exclusive runs use only nodes that are idle in Slurm. "
	    "Runs with launcher = slurm always do." },
	{ "jobs", "source", CONF_CHOICE, 0, 0, "off|slurm|command", "off", "",
	    "How the collector learns which jobs run on the nodes: off (no "
	    "jobs), slurm (by squeue and sacct) or command (jobs.command)." },
	{ "jobs", "command", CONF_STRING, 0, 4000, NULL, "", "",
	    "Shell command for source = command. The command prints all jobs "
	    "that run or ended in the last minutes, one a line: "
	    "JOB|OWNER|STATE|START|END|NODES|NAME; see coalmined(8)." },
	{ "jobs", "interval", CONF_SPAN, 1, 3600, NULL, "1m", "s",
	    "Interval at which the collector queries the jobs." },
	{ "jobs", "accounting", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Whether sacct is queried too, with source = slurm, for jobs that "
	    "ended between two queries." },
	{ "jobs", "owners", CONF_CHOICE, 0, 0, "pseudonym|name", "pseudonym",
	    "",
	    "How the owner of a job is stored: pseudonym (a keyed hash) or "
	    "name." },
	{ "jobs", "names", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Whether job names are stored. If not, every job has the name -, "
	    "and jobs of one program cannot be compared." },
	{ "jobs", "retention", CONF_SPAN, 3600, 3650 * DAY_S, NULL, "30d", "s",
	    "Time for which a job is stored after its end." },
	{ "jobs", "proxy", CONF_STRING, 0, 128, NULL, "", "",
	    "Name in the certificate of the site's web proxy, which connects "
	    "to http.tls_listen and sets X-Forwarded-User: that user sees "
	    "their own jobs. Empty: only operators see jobs." },
	{ "mesh", "enabled", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Whether agents continuously send each other UDP echoes (the "
	    "mesh), to measure latency and loss." },
	{ "mesh", "interval", CONF_SPAN, 1, DAY_S, NULL, "5m", "s",
	    "Length of a measurement period (epoch) of the mesh. At the end "
	    "of each epoch one record is written for pairs of nodes on one "
	    "leaf and one for pairs on different leaves, and every node gets "
	    "new targets." },
	{ "mesh", "port", CONF_INT, 1, PORT_MAX, NULL, "17702", "",
	    "UDP port on which agents answer the echoes of other agents." },
	{ "mesh", "net", CONF_STRING, 0, 100, NULL, "", "",
	    "Network of the addresses that nodes send echoes to, for example "
	    "10.1.0.0/16. Choose a network that carries MPI, since echoes test "
	    "only the NICs that they cross. Empty: the network of the agent's "
	    "connection to the collector." },
	{ "mesh", "leaf_targets", CONF_INT, 0, 16, NULL, "2", "nodes",
	    "Number of nodes on its own leaf to which a node sends echoes." },
	{ "mesh", "spine_targets", CONF_INT, 0, 16, NULL, "2", "nodes",
	    "Number of nodes on other leaves to which a node sends echoes." },
	{ "mesh", "round", CONF_SPAN, 0.1, 3600, NULL, "10s", "s",
	    "Interval at which a node sends a burst of datagrams to each of "
	    "its targets, within mesh.rate and mesh.target_rate." },
	{ "mesh", "burst", CONF_INT, 1, 64, NULL, "4", "1",
	    "Number of datagrams in a burst. Each has 64 bytes, except the "
	    "last one, which is as large as the MTU of both nodes allows, up "
	    "to 9216 bytes. If burst is 1, every fourth datagram is large. "
	    "With the defaults a node sends 0.8 large datagrams a second, "
	    "answers included: 7 kB/s with an MTU of 9000." },
	{ "mesh", "rate", CONF_REAL, 0.1, 2000, NULL, "20", "1/s",
	    "Maximum rate at which a node sends datagrams, to all targets "
	    "together." },
	{ "mesh", "target_rate", CONF_REAL, 0.01, 2000, NULL, "2", "1/s",
	    "Maximum rate at which a node sends datagrams to one target." },
	{ "mesh", "timeout", CONF_SPAN, 0.01, 60, NULL, "1s", "s",
	    "Timeout of an echo: an echo without an answer within this time is "
	    "lost." },
	{ "verdict", "effect", CONF_REAL, 0.005, 1, NULL, "0.05", "1",
	    "Minimum effect, as a share: a node that is slower than its peers "
	    "by less than this share is not an outlier. 0.05 is 5 %. Increase "
	    "verdict.effect to ignore small differences." },
	{ "verdict", "fdr", CONF_REAL, 0.000001, 0.2, NULL, "0.01", "1",
	    "False discovery rate: the share of healthy nodes among the nodes "
	    "that become outliers, which chance may cause. A lower rate "
	    "starts fewer confirmation runs and misses smaller effects. The "
	    "number of rounds that are tested together depends on the votes "
	    "of a node, so chance causes more outliers than this rate: with "
	    "the defaults a healthy node is an outlier, before its "
	    "confirmation run, in 3 % of the rounds of 256 nodes and in 15 % "
	    "of the rounds of 10000 nodes." },
	{ "verdict", "votes", CONF_INT, 1, 16, NULL, "3", "rounds",
	    "Number of slow rounds, among the last verdict.window, that make a "
	    "node an outlier. A lower number finds a fault sooner and causes "
	    "more confirmation runs." },
	{ "verdict", "window", CONF_INT, 1, 16, NULL, "5", "rounds",
	    "Number of most recent rounds of a node in which slow ones "
	    "(verdict.votes) are counted." },
	{ "verdict", "clean", CONF_INT, 1, 1000, NULL, "5", "rounds",
	    "Number of consecutive normal rounds after which an outlier is "
	    "ok again." },
	{ "verdict", "stale", CONF_SPAN, 10, 365 * DAY_S, NULL, "1d", "s",
	    "Time without a measurement after which the verdict of a node is "
	    "unknown." },
	{ "verdict", "second_pass", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Whether outliers are measured again among normal nodes, in a "
	    "confirmation run." },
	{ "verdict", "second_pass_per_hour", CONF_INT, 0, 1000, NULL, "20", "1",
	    "Maximum number of confirmation runs in an hour; each uses six "
	    "nodes." },
	{ "verdict", "follow_up", CONF_INT, 0, 1000, NULL, "20", "1",
	    "Maximum number of follow-up runs in an hour. A follow-up run "
	    "measures a node or leaf again within a minute: one that took at "
	    "least 1.5 times as long as usual in one round, or an outlier that "
	    "was that slow before and is normal again. 0: no follow-up runs; "
	    "only scheduled rounds count." },
	{ "verdict", "baseline", CONF_STRING, 1, 63, NULL, "commissioning", "",
	    "Name of the pinned baseline with which nodes are compared; see "
	    "coalctl baseline pin." },
	{ "objective", "rows", CONF_STRING, 0, 4000, NULL, "", "",
	    "Objectives, separated by commas, each NAME CLASS SHARE TARGET "
	    "WINDOW, and optionally promise. CLASS is node, leaf, or "
	    "collective:NODES: any set of this many nodes of one leaf. A part "
	    "is good while it has at least SHARE of the bandwidth of its "
	    "peers, or with promise of the bandwidth in objective.report. "
	    "TARGET of all measured node-hours in WINDOW must be good. For "
	    "example links node 95% 99.5% 30d. WINDOW is 1d to 365d and at "
	    "most store.retention. Empty: no objectives." },
	{ "objective", "report", CONF_STRING, 0, 4000, NULL, "", "",
	    "Report of coalctl accept run that has the promised bandwidth of "
	    "the objectives with promise. Empty: no such objectives." },
	{ "topology", "leaf_prefix", CONF_INT, 0, 32, NULL, "24", "bits",
	    "Without topology.leaves: number of first bits that the addresses "
	    "of nodes on one leaf switch have in common. 0: all nodes are on "
	    "one leaf." },
	{ "topology", "leaves", CONF_STRING, 0, 4000, NULL, "", "",
	    "Topology file, one leaf a line, for example leaf1 n[001-040]. The "
	    "file replaces topology.leaf_prefix; create it with coalctl "
	    "topology import. SIGHUP reloads the file; setting this option "
	    "takes a restart. Empty: topology.leaf_prefix applies." },
	/* removed */
	{ "collector.copy_of", NULL, 0, 0, 0, NULL, NULL, NULL, NO_COPY },
	{ "store.copy_wait", NULL, 0, 0, 0, NULL, NULL, NULL, NO_COPY },
	{ NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL },
};

const struct conf_row options_agent[] = {
	{ "agent", "collector", CONF_ADDRESS, 3, 1000, NULL, "collector:17700",
	    "",
	    "Address of the collector, host:port. Further addresses, separated "
	    "by commas, are fallbacks: if a collector does not answer or "
	    "rejects the agent, all addresses are tried before the next "
	    "backoff. A collector that a standby has replaced is ignored." },
	{ "agent", "name", CONF_STRING, 0, 255, NULL, "", "",
	    "Name of this node. The certificate of the agent (tls.cert) must "
	    "contain this name. Empty: the host name." },
	{ "agent", "user", CONF_STRING, 0, 64, NULL, "coalmine-agent", "",
	    "User as which the agent reads data of the network, if the agent "
	    "is started by root: a second process, which stays root, starts "
	    "probes. At the start the agent gives agent.state_dir, "
	    "agent.run_dir, tls.key, tls.cert and the file of agent.enroll to "
	    "this user. Empty: one process, which stays root. Read at the "
	    "start only." },
	{ "agent", "state_dir", CONF_STRING, 1, 4000, NULL,
	    "/var/lib/coalmine-agent", "",
	    "Directory of the spool, and of the files by which the agent "
	    "cleans up runs after a crash." },
	{ "agent", "run_dir", CONF_STRING, 1, 80, NULL, "/run/coalmine-agent",
	    "", "Directory of sockets and files of active runs." },
	{ "agent", "log", CONF_CHOICE, 0, 0, "error|warn|info|debug|trace",
	    "info", "",
	    "Log level: messages of this level and of more severe ones are "
	    "logged." },
	{ "agent", "spool_max", CONF_BYTES, 64.0 * 1024, 1024 * GIB, NULL,
	    "64M", "bytes",
	    "Maximum size of the spool, which holds records until the "
	    "collector has stored them. If the spool is full, the oldest "
	    "records of single rounds are dropped first." },
	{ "agent", "grace", CONF_SPAN, 1, 3600, NULL, "100s", "s",
	    "Active runs on this node are ended if the collector is "
	    "unreachable for this long. The default covers a restart of the "
	    "collector and the reconnect of 20,000 agents on two cores." },
	{ "agent", "enroll", CONF_STRING, 0, 4000, NULL,
	    "/etc/coalmine/pki/enroll", "",
	    "How the node gets its certificate if tls.ca, tls.cert and "
	    "tls.key do not exist: a token made by coalctl pki token, a file "
	    "that contains one, or the word munge for a munge credential." },
	{ "agent", "munge_users", CONF_STRING, 1, 400, NULL, "root, coalmine",
	    "",
	    "Users, by name or number, as which the collector may run on its "
	    "host. With enroll = munge the agent trusts a collector only if "
	    "one of these users made the munge credential that the collector "
	    "sends." },
	{ "agent", "munge_socket", CONF_STRING, 0, 100, NULL, "", "",
	    "Unix socket of the munge daemon. Empty: the default of "
	    "libmunge." },
	{ "agent", "in_band", CONF_STRING, 0, 4000, NULL, "", "",
	    "Directory on a local disk in which jobs write the times of their "
	    "own collectives, by NCCL's inspector or libcoalmine-pmpi.so. The "
	    "agent reads the files for coalctl job. Empty: disabled." },
	{ "agent", "ras_port", CONF_INT, 0, 65535, NULL, "0", "",
	    "TCP port of the status service (RAS) of NCCL jobs on this node: "
	    "28028, unless NCCL_RAS_ADDR changes the port. The agent queries "
	    "the service every 30 s for the state of jobs. 0: disabled." },
	{ "tls", "ca", CONF_STRING, 1, 4000, NULL, "/etc/coalmine/pki/ca.pem",
	    "",
	    "Certificate of the site's authority, by which the agent "
	    "verifies the collector." },
	{ "tls", "cert", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/pki/agent.pem", "", "Certificate of this node." },
	{ "tls", "key", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/pki/agent.key", "", "Private key of tls.cert." },
	{ "tls", "crl", CONF_STRING, 0, 4000, NULL, "", "",
	    "Certificate revocation lists (PEM), one for each authority of "
	    "tls.ca and each intermediate one. Empty: only the lists that "
	    "the collector sends, which are stored in agent.state_dir." },
	{ "children", "user", CONF_STRING, 0, 64, NULL, "coalmine-probe", "",
	    "User as which probes run if the agent is root. This must not be "
	    "the user as which the collector runs." },
	{ "children", "allow_root", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Whether probes may run as root. If not, runs are rejected while "
	    "children.user is root or empty." },
	{ "children", "libexec", CONF_STRING, 1, 4000, NULL,
	    "/usr/libexec/coalmine", "",
	    "Directory of the probe engines and of helper programs. If it is "
	    "not set and the agent is PREFIX/sbin/coalmine-agent, the agent "
	    "uses PREFIX/libexec/coalmine if that has coalmine-keeper." },
	{ "children", "openmpi", CONF_STRING, 0, 4000, NULL, "/usr/bin", "",
	    "Directory of Open MPI's programs, such as mpirun, which reports "
	    "the version. Ranks search libraries in ../lib and ../lib64. "
	    "Empty: this node does not offer Open MPI." },
	{ "children", "mpich", CONF_STRING, 0, 4000, NULL, "/usr/bin", "",
	    "Directory of MPICH's programs, such as mpiexec.hydra, which "
	    "reports the version. Ranks search libraries in ../lib and "
	    "../lib64. Empty: this node does not offer MPICH." },
	{ "children", "probes", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/probes.d", "",
	    "Directory in which coalmine-build-probe(8) registers the site's "
	    "own MPIs, one file each. Read at the start only." },
	{ "children", "slurm", CONF_STRING, 0, 4000, NULL, "/usr/bin", "",
	    "Directory of srun, for campaigns with launcher = slurm. Empty: "
	    "this node does not offer that launcher." },
	{ "children", "slurm_conf", CONF_STRING, 0, 4000, NULL, "", "",
	    "Path of slurm.conf for srun. Empty: Slurm's default." },
	{ "children", "command", CONF_STRING, 0, 4000, NULL, "", "",
	    "Command for campaigns with launcher = command. The command "
	    "submits a job to another batch system and must not return before "
	    "the job has ended, for example /usr/bin/flux run -N {nodes} "
	    "--requires=hosts:{hostlist} {command}." },
	{ "children", "programs", CONF_STRING, 0, 4000, NULL, "", "",
	    "Programs that a campaign may start by command.run, as absolute "
	    "paths separated by commas. Empty: none." },
	{ "children", "tables", CONF_STRING, 0, 4000, NULL, "", "",
	    "Directory in which campaigns may store results of tuning "
	    "(collective.table, multipath.table). Empty: not permitted." },
	{ "children", "file_max", CONF_BYTES, 0, 1024 * GIB, NULL, "16G",
	    "bytes",
	    "Maximum size of each file that a probe writes. 0: no limit." },
	{ "children", "processes_max", CONF_INT, 0, 10000000, NULL, "16384",
	    "1",
	    "Maximum number of processes and threads of children.user on this "
	    "node, all runs together. 0: no limit." },
	{ "children", "deadline_max", CONF_SPAN, 1, DAY_S, NULL, "1h", "s",
	    "Maximum run time of a process of a run, even if "
	    "campaign.deadline is longer." },
	{ "mpi", "net", CONF_NETS, 0, 200, NULL, "", "",
	    "Networks for MPI traffic over TCP, separated by commas, for "
	    "example 10.1.0.0/16. Empty: the networks that all nodes of a "
	    "run share, as found by the collector." },
	{ "mpi", "fabric", CONF_CHOICE, 0, 0, NAMES_FABRICS, "auto", "",
	    "Network software for the messages of ranks (as mpi.fabric of "
	    "campaigns), for campaigns that do not set it. auto: the MPI "
	    "chooses, as for any job." },
	{ "mpi", "ports", CONF_STRING, 0, 16, NULL, "", "",
	    "TCP ports on which ranks accept connections, for a firewall "
	    "between nodes, for example 20000-20100. Each rank uses up to "
	    "two. Empty: any port of the kernel's range." },
	{ "mpi", "ucx_tls", CONF_STRING, 0, 64, NULL, "", "",
	    "Transports of UCX for ranks: the value of UCX_TLS in their "
	    "environment. Empty: UCX chooses." },
	{ "mpi", "nics", CONF_STRING, 0, 1000, NULL, "", "",
	    "NICs for the ranks of this node, for example eth0,eth1 or "
	    "mlx5_0,mlx5_1: the first rank gets the first NIC, and so on, "
	    "repeated. These NICs are also the rails for mpi.rails = turns, "
	    "and are counted by coalctl coverage. Empty: the MPI chooses, "
	    "and the rails are all active InfiniBand and Slingshot ports." },
	{ "mpi", "bind", CONF_CHOICE, 0, 0, "auto|none|core|numa", "auto", "",
	    "Binding of ranks to processors (as mpi.bind of campaigns), for "
	    "campaigns that do not set it." },
	{ "mpi", "mca", CONF_STRING, 0, 1000, NULL, "", "",
	    "Additional parameters of Open MPI: "
	    "name=value,name=\"value,value\". Empty: none." },
	{ "mpi", "env", CONF_STRING, 0, 2000, NULL, "", "",
	    "Environment variables of every rank, for example "
	    "UCX_TLS=\"rc,self\",UCX_IB_GID_INDEX=3. Empty: none." },
	{ "mpi", "allow", CONF_STRING, 0, 2000, NULL,
	    "UCX_*,FI_*,PSM2_*,PSM3_*,NCCL_*,RCCL_*,MPIR_CVAR_*,MPICH_*,"
	    "CUDA_VISIBLE_DEVICES,HIP_VISIBLE_DEVICES,ROCR_VISIBLE_DEVICES,"
	    "OMP_NUM_THREADS,OMPI_MCA_pml*,OMPI_MCA_mtl*,OMPI_MCA_btl*,"
	    "OMPI_MCA_osc*,OMPI_MCA_coll*,OMPI_MCA_mpi_*,"
	    "OMPI_MCA_opal_common_ucx*",
	    "",
	    "Variables that mpi.env of a campaign may set, and, with the "
	    "prefix OMPI_MCA_, parameters that its mpi.mca may set. Variables "
	    "that name a file or a program are never permitted. Empty: none." },
	{ "mesh", "net", CONF_NETS, 0, 1000, NULL,
	    "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,127.0.0.0/8,"
	    "fc00::/7,fe80::/10",
	    "",
	    "Networks, separated by commas, to which the agent may send "
	    "echoes. Targets in other networks are ignored, whatever the "
	    "collector orders. Empty: all networks." },
	{ "idle", "check", CONF_CHOICE, 0, 0,
	    "auto|always|command|slurm-cgroup|load", "auto", "",
	    "How the agent checks that its node is idle before an exclusive "
	    "run. auto: slurm-cgroup on nodes with Slurm; others reject the "
	    "run. always: no check. command: idle.command. slurm-cgroup: no "
	    "job of Slurm has a control group. load: idle.load." },
	{ "idle", "command", CONF_STRING, 0, 4000, NULL, "", "",
	    "Shell command for check = command; exit status 0 means that the "
	    "node is idle." },
	{ "idle", "load", CONF_REAL, 0, 10000, NULL, "0.5", "1",
	    "For check = load: the node is idle if its load per core is below "
	    "this value and no process computes on a GPU, as far as drivers "
	    "report GPU use." },
	{ NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL },
};

const struct conf_row options_probe[] = {
	{ "probe", "mpi", CONF_CHOICE, 0, 0, "openmpi|mpich", NULL, "",
	    "Family of this MPI. It decides the environment variables by which "
	    "ranks select the network, and the defaults of wireup and slurm. "
	    "MVAPICH, Intel MPI and Cray MPICH belong to mpich." },
	{ "probe", "engine", CONF_STRING, 1, 4000, NULL, NULL, "",
	    "Path of the probe engine that was built with this MPI." },
	{ "probe", "bin", CONF_STRING, 0, 4000, NULL, "", "",
	    "Directory of this MPI's launcher, mpirun or mpiexec.hydra. The "
	    "agent runs the launcher only to report the version of this MPI. "
	    "Ranks search programs in this directory, and libraries in ../lib "
	    "and ../lib64. Empty, for example for Cray MPICH, which has no "
	    "launcher: no version is reported, and ranks search only the "
	    "system's directories." },
	{ "probe", "wireup", CONF_CHOICE, 0, 0, "auto|pmix|pmi", "auto", "",
	    "Interface by which ranks of this MPI find each other at the "
	    "start: PMIx (pmix), or PMI-1 and PMI-2 (pmi). auto: pmix for "
	    "openmpi, pmi for mpich. coalmine-build-probe(8) tries both." },
	{ "probe", "slurm", CONF_STRING, 0, 64, NULL, "", "",
	    "Value of srun's option --mpi for ranks of this MPI, for example "
	    "cray_shasta. Empty: pmix for openmpi, pmi2 for mpich." },
	{ "probe", "version", CONF_STRING, 0, 64, NULL, "", "",
	    "Version of Coalmine from which the engine was built." },
	{ NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL },
};

const struct conf_row options_scan[] = {
	{ "scan", "within", CONF_SPAN, 10, 600, NULL, "40s", "s",
	    "Time limit of all measurements, without the start of the MPI "
	    "job. Nodes without a result by then are reported as open." },
	{ "scan", "tests", CONF_CHOICES, 0, 0, "lat|bw|incast", "lat,bw,incast",
	    "",
	    "Tests to run: lat and bw (latency and bandwidth of pairs of "
	    "nodes, by which slow nodes are found), and incast (many senders "
	    "to one receiver)." },
	{ "scan", "bytes", CONF_BYTES, 1024, 4 * 1024.0 * 1024, NULL, "128K",
	    "bytes",
	    "Size of the messages of bw and incast. In one operation of bw a "
	    "rank sends 16. On a slow network, small messages take less "
	    "time." },
	{ "scan", "expect", CONF_STRING, 0, 400, NULL, "", "",
	    "Expected rate in each direction while a node sends and receives "
	    "at the same time, for example 200gbit or 25GB/s; or a machine "
	    "file of coalmine-machine(5). A node below 85 % of this rate is "
	    "reported. Empty: nodes are only compared with each other." },
	{ "scan", "device", CONF_CHOICE, 0, 0, NAMES_DEVICES, "host", "",
	    "Memory of the message buffers. GPU memory requires an MPI that "
	    "accepts pointers to GPU memory." },
	{ "scan", "json", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Print the result as one JSON object. The option --json has no "
	    "value." },
	{ NULL },
};

const struct conf_row *
options_find(const char *kind)
{
	const struct {
		const char *kind;
		const struct conf_row *rows;
	} kinds[] = {
		{ "campaign", options_campaign },
		{ "coalmined", options_daemon },
		{ "coalmine-agent", options_agent },
		{ "probe", options_probe },
		{ "plan", options_patterns },
		{ "machine", options_machine },
		{ "promise", options_promise },
		{ "scan", options_scan },
	};
	int i = STR_FIND(kinds, kind);

	return i < 0 ? NULL : kinds[i].rows;
}

int
options_is_plan(const char *name)
{
	const struct conf_row *row = options_patterns;

	while (row->key != NULL && strcmp(row->section, name) != 0)
		row++;
	return row->key != NULL && strcmp(name, "measure") != 0;
}

int
options_runs_plans(const struct conf *c)
{
	for (const struct conf_row *row = options_patterns; row->key != NULL;
	     row++)
		if (conf_has_section(c, row->section) &&
		    options_is_plan(row->section))
			return 1;
	return 0;
}

int
options_runs_canaries(const struct conf *c)
{
	static const char *const sections[] = { "canary", "command",
		"congestor", "phases" };

	for (size_t i = 0; i < ARRAY_LEN(sections); i++)
		if (conf_has_section(c, sections[i]))
			return 1;
	return !options_runs_plans(c);
}

const struct conf_row *
options_slurm(const struct conf_row *row)
{
	row = row == NULL ? options_campaign : row + 1;
	while (row->key != NULL && strcmp(row->section, "slurm") != 0)
		row++;
	return row->key != NULL ? row : NULL;
}
