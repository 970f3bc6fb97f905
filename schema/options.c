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

#define DAY_S    86400.0
#define GIB      (1024.0 * 1024 * 1024)
#define PORT_MAX 65535

#define NO_COPY                                                                \
	"for a store that outlives its machine use PostgreSQL with standby "   \
	"collectors (store.url, store.lease)"

const struct conf_row options_daemon[] = {
	{ "collector", "listen", CONF_ADDRESS, 1, 200, NULL, "0.0.0.0:17700",
	    "",
	    "Address for agents (mutual TLS); use [::]:17700 if agents have "
	    "IPv6 addresses." },
	{ "collector", "state_dir", CONF_STRING, 1, 4000, NULL,
	    "/var/lib/coalmine", "",
	    "Directory of the store, on a local file system." },
	{ "collector", "campaign_dir", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/campaigns", "",
	    "Directory of the campaign files, NAME.conf." },
	{ "collector", "log", CONF_CHOICE, 0, 0, "error|warn|info|debug|trace",
	    "info", "", "Log level." },
	{ "collector", "agents_max", CONF_INT, 1, 100000, NULL, "24000", "1",
	    "Maximum number of connections from agents." },
	{ "collector", "heartbeat", CONF_SPAN, 0.1, 60, NULL, "2s", "s",
	    "Interval of heartbeats in both directions, at least 1/2000 s for "
	    "each node: 10s with 20,000 nodes." },
	{ "collector", "silence", CONF_SPAN, 0.5, 600, NULL, "10s", "s",
	    "Timeout of an agent: without contact for this long it is lost. "
	    "With a longer heartbeat interval the timeout is 2.5 heartbeats." },
	{ "cluster", "name", CONF_STRING, 0, 40, NULL, "", "",
	    "Name of the cluster, if a site has several: letters a to z, "
	    "digits and _, starting with a letter. All collectors of one "
	    "cluster have the same name; no two clusters share one. With "
	    "store.url it is the schema, and the collectors of all named "
	    "clusters in that database report each other. Empty: a single "
	    "cluster." },
	{ "cluster", "url", CONF_URLS, 0, 400, NULL, "", "",
	    "Address of this collector for coalctl --cluster, for example "
	    "https://collector:17702. Empty: the host name and "
	    "http.tls_listen." },
	{ "tls", "ca", CONF_STRING, 1, 4000, NULL, "/etc/coalmine/pki/ca.pem",
	    "",
	    "Certificate of Coalmine's own authority. Every holder of one of "
	    "its certificates with role operator can give orders." },
	{ "tls", "cert", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/pki/collector.pem", "", "Own certificate." },
	{ "tls", "key", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/pki/collector.key", "",
	    "Own key. If the collector cannot read the file, it uses the "
	    "systemd credential with the name of the file." },
	{ "tls", "crl", CONF_STRING, 0, 4000, NULL, "", "",
	    "Certificate revocation lists (PEM), one for each authority of "
	    "tls.ca. Empty: no check. SIGHUP reloads the file and closes the "
	    "sessions of agents with a revoked certificate." },
	{ "enroll", "ca", CONF_STRING, 0, 4000, NULL, "", "",
	    "Authority for enrolment: it signs certificates of new nodes with "
	    "a token, and renews those of agents. Use enroll.pem of coalctl "
	    "pki enroller. Empty: enrolment is disabled." },
	{ "enroll", "key", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/pki/enroll.key", "",
	    "Key of enroll.ca, or the systemd credential with the name of that "
	    "file." },
	{ "enroll", "life", CONF_SPAN, 10, 3650 * DAY_S, NULL, "90d", "s",
	    "Validity of issued certificates. Agents renew them after two "
	    "thirds of it." },
	{ "enroll", "munge_users", CONF_STRING, 0, 400, NULL, "", "",
	    "Users, by name or number, whose munge credentials enrol the node "
	    "of their address, for example root. Empty: munge enrolment is "
	    "disabled. Read at the start only." },
	{ "enroll", "munge_socket", CONF_STRING, 0, 100, NULL, "", "",
	    "Socket of munged. Empty: the default of libmunge." },
	{ "http", "listen", CONF_ADDRESS, 0, 200, NULL, "127.0.0.1:17701", "",
	    "Read-only HTTP: page, metrics, API. Empty: disabled." },
	{ "http", "socket", CONF_STRING, 0, 100, NULL,
	    "/run/coalmine/coalmined.sock", "",
	    "Unix socket for orders by root and the collector's own user." },
	{ "http", "tls_listen", CONF_ADDRESS, 0, 200, NULL, "", "",
	    "HTTPS with client certificates for remote coalctl. Empty: "
	    "disabled." },
	{ "http", "hosts", CONF_STRING, 0, 2000, NULL, "", "",
	    "Host names, separated by commas, that clients may use for "
	    "http.listen, in addition to addresses, localhost and the host "
	    "name. Other Host headers are rejected (DNS rebinding "
	    "protection)." },
	{ "http", "connections_max", CONF_INT, 1, 100000, NULL, "256", "1",
	    "Maximum number of HTTP connections." },
	{ "alerts", "webhook", CONF_URLS, 0, 2000, NULL, "", "",
	    "URLs, separated by commas, that receive alerts about outliers, "
	    "lost agents and the collector itself, in the format of "
	    "Alertmanager's webhooks. Empty: none." },
	{ "alerts", "page", CONF_URLS, 0, 400, NULL, "", "",
	    "Public URL of the collector's page, for links in alerts, for "
	    "example http://collector:17701/." },
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
	    "Topic of Kafka. For NATS the first part of the subject, as in "
	    "coalmine.verdict." },
	{ "events", "source", CONF_STRING, 0, 200, NULL, "", "",
	    "Attribute source of events, a URI reference. Empty: /coalmine/ "
	    "and cluster.name or the host name. Set it if another host may "
	    "take over without a cluster name." },
	{ "events", "keep", CONF_SPAN, 60, 3650 * DAY_S, NULL, "7d", "s",
	    "Events that could not be sent for this long are dropped and "
	    "counted; at most store.retention." },
	{ "events", "behind", CONF_SPAN, 5, 365 * DAY_S, NULL, "10m", "s",
	    "A sink whose oldest event has waited for this long is reported by "
	    "coalctl diags and to the other sinks." },
	{ "events", "ca", CONF_STRING, 0, 4000, NULL, "", "",
	    "Authority of the sinks' certificates. Empty: the system's "
	    "authorities." },
	{ "events", "cert", CONF_STRING, 0, 4000, NULL, "", "",
	    "Client certificate for sinks. Empty: none." },
	{ "events", "key", CONF_STRING, 0, 4000, NULL, "", "",
	    "Key of events.cert." },
	{ "events", "nats_credentials", CONF_STRING, 0, 4000, NULL, "", "",
	    "User credentials for NATS (.creds). Empty: none." },
	{ "events", "kafka_properties", CONF_STRING, 0, 4000, NULL, "", "",
	    "File of additional librdkafka properties, key=value, for example "
	    "security.protocol=sasl_ssl. Empty: none." },
	{ "links", "interval", CONF_SPAN, 0, DAY_S, NULL, "5m", "s",
	    "Interval at which agents read the error counters of all ports. 0: "
	    "never." },
	{ "store", "url", CONF_STRING, 0, 2000, NULL, "", "",
	    "PostgreSQL database of the store, for example "
	    "postgresql://coalmine@db1,db2/coalmine?passfile=/etc/coalmine/"
	    "pgpass. "
	    "Needs coalmine-store-postgresql. Empty: a file in "
	    "collector.state_dir." },
	{ "store", "schema", CONF_STRING, 1, 63, NULL, "coalmine", "",
	    "Schema of that database. If cluster.name is set, that name is the "
	    "schema." },
	{ "store", "lease", CONF_SPAN, 0, 3600, NULL, "0s", "s",
	    "Leader lease, at least 2s, for failover between collectors of one "
	    "cluster with the same store.url and store.schema. If the active "
	    "collector cannot reach the database for this long, it stops "
	    "giving orders and a standby takes over. Set it on all of them. "
	    "0s: no standby; a second collector is rejected." },
	{ "store", "retention", CONF_SPAN, 3600, 3650 * DAY_S, NULL, "90d", "s",
	    "Records older than this are deleted. Nothing is deleted while the "
	    "clock is more than a day ahead of the newest stored record; this "
	    "raises an alarm and lasts a week at most." },
	{ "store", "raw_retention", CONF_SPAN, 3600, 3650 * DAY_S, NULL, "7d",
	    "s",
	    "After this time round records and counters are deleted, records "
	    "of background runs lose their lists of nodes and pairs, and "
	    "records of the mesh are merged into one an hour." },
	{ "store", "free_min", CONF_BYTES, 0, 1024 * GIB, NULL, "64M", "bytes",
	    "With less free disk space than this, writing stops and an alarm "
	    "is raised. Not used with store.url." },
	{ "quota", "run_records", CONF_INT, 10, 1000000000, NULL, "1000000",
	    "1",
	    "Maximum number of records of a run. A head node that sends more "
	    "is not trusted: the run fails, and its further records are "
	    "dropped. The same limit holds for late records of finished runs, "
	    "for each node and hour." },
	{ "quota", "run_bytes", CONF_BYTES, 65536, 1024 * GIB, NULL, "2G",
	    "bytes",
	    "Maximum size of the records of a run, with the same "
	    "consequence." },
	{ "quota", "queue", CONF_BYTES, 2.0 * 1024 * 1024, GIB, NULL, "4M",
	    "bytes",
	    "Send queue limit of an agent. A session whose agent reads so "
	    "slowly that more data waits is closed." },
	{ "budget", "bytes", CONF_BYTES, 0, 1024.0 * 1024 * 1024 * GIB, NULL,
	    "0", "bytes",
	    "Bytes that runs may send in an hour, all nodes together. 0: no "
	    "limit." },
	{ "budget", "node_seconds", CONF_REAL, 0, 1e12, NULL, "0", "s",
	    "Nodes times seconds that runs may use in an hour. 0: no limit." },
	{ "budget", "link_share", CONF_REAL, 0, 1, NULL, "0", "1",
	    "Share of the link of any node that runs may use, averaged over an "
	    "hour. 0: no limit." },
	{ "budget", "blackout", CONF_STRING, 0, 400, NULL, "", "",
	    "Periods without exclusive runs, UTC, for example 08:00-18:00 or "
	    "2026-12-24..2026-12-26." },
	{ "reaction", "action", CONF_CHOICE, 0, 0, "none|command|slurm-drain",
	    "none", "", "Reaction to a node whose verdict is bad." },
	{ "reaction", "dry_run", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Only log the action in the event log; do not execute it." },
	{ "reaction", "undo", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "When the verdict is ok again, undo the reaction, and nothing "
	    "else." },
	{ "reaction", "command", CONF_STRING, 0, 4000, NULL, "", "",
	    "Shell command for action = command, with COALMINE_NODE, "
	    "COALMINE_VERDICT (bad or ok) and COALMINE_TEXT in its "
	    "environment." },
	{ "reaction", "nodes_per_hour", CONF_INT, 0, 1000, NULL, "4", "nodes",
	    "Maximum number of nodes with a reaction in an hour." },
	{ "reaction", "share_per_hour", CONF_REAL, 0, 1, NULL, "0.02", "1",
	    "Maximum share of all nodes with a reaction in an hour, rounded "
	    "up." },
	{ "slurm", "dir", CONF_STRING, 1, 4000, NULL, "/usr/bin", "",
	    "Directory of sinfo, squeue, scontrol and scancel." },
	{ "slurm", "conf", CONF_STRING, 0, 4000, NULL, "", "",
	    "slurm.conf for these commands. Empty: Slurm's default." },
	{ "slurm", "idle", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Whether exclusive runs use only nodes that are idle in Slurm. "
	    "Runs with launcher = slurm always do." },
	{ "jobs", "source", CONF_CHOICE, 0, 0, "off|slurm|command", "off", "",
	    "Source of the jobs on nodes: off; slurm, by squeue and sacct of "
	    "slurm.dir; or jobs.command." },
	{ "jobs", "command", CONF_STRING, 0, 4000, NULL, "", "",
	    "Shell command for source = command. It prints all jobs that run "
	    "or ended in the last minutes, one a line: "
	    "JOB|OWNER|STATE|START|END|NODES|NAME; see coalmined(8)." },
	{ "jobs", "interval", CONF_SPAN, 1, 3600, NULL, "1m", "s",
	    "Interval of these queries." },
	{ "jobs", "accounting", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "With source = slurm: also query sacct, for jobs that ended "
	    "between two queries." },
	{ "jobs", "owners", CONF_CHOICE, 0, 0, "pseudonym|name", "pseudonym",
	    "", "How owners are stored: as a keyed hash, or by name." },
	{ "jobs", "names", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Whether job names are stored. Without them every job has the name "
	    "-, and jobs of one program cannot be compared." },
	{ "jobs", "retention", CONF_SPAN, 3600, 3650 * DAY_S, NULL, "30d", "s",
	    "Jobs that ended before this time are deleted." },
	{ "jobs", "proxy", CONF_STRING, 0, 128, NULL, "", "",
	    "Certificate name of the site's proxy, which connects to "
	    "http.tls_listen and sets X-Forwarded-User: that user sees their "
	    "own jobs. Empty: only operators see jobs." },
	{ "mesh", "enabled", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Whether agents exchange UDP echoes continuously." },
	{ "mesh", "interval", CONF_SPAN, 1, DAY_S, NULL, "5m", "s",
	    "Epoch of the mesh: after it targets change, and each class gets a "
	    "record." },
	{ "mesh", "port", CONF_INT, 1, PORT_MAX, NULL, "17702", "",
	    "UDP port on which agents answer." },
	{ "mesh", "net", CONF_STRING, 0, 100, NULL, "", "",
	    "Network of the agents' addresses to use, for example 10.1.0.0/16. "
	    "Choose one that carries MPI, since echoes test the NICs that they "
	    "cross. Empty: the network of the agent's session." },
	{ "mesh", "leaf_targets", CONF_INT, 0, 16, NULL, "2", "nodes",
	    "Targets of a node on its own leaf." },
	{ "mesh", "spine_targets", CONF_INT, 0, 16, NULL, "2", "nodes",
	    "Targets of a node on other leaves." },
	{ "mesh", "round", CONF_SPAN, 0.1, 3600, NULL, "10s", "s",
	    "Every target gets a burst in this time, within the rate limits." },
	{ "mesh", "burst", CONF_INT, 1, 64, NULL, "4", "1",
	    "Datagrams of a burst. They have 64 bytes, except the last one "
	    "(with bursts of 1 every fourth), which is as large as the MTU of "
	    "both nodes allows, up to 9216 bytes. With the defaults a node "
	    "sends 0.8 large ones a second, answers included: 7 kB/s with an "
	    "MTU of 9000." },
	{ "mesh", "rate", CONF_REAL, 0.1, 2000, NULL, "20", "1/s",
	    "Maximum rate of datagrams of a node." },
	{ "mesh", "target_rate", CONF_REAL, 0.01, 2000, NULL, "2", "1/s",
	    "Maximum rate of datagrams from a node to one target." },
	{ "mesh", "timeout", CONF_SPAN, 0.01, 60, NULL, "1s", "s",
	    "Echoes that are not answered within this time are lost." },
	{ "verdict", "effect", CONF_REAL, 0.005, 1, NULL, "0.05", "1",
	    "Minimum effect: a node that is slower than its peers by less than "
	    "this is not an outlier." },
	{ "verdict", "fdr", CONF_REAL, 0.000001, 0.2, NULL, "0.01", "1",
	    "False discovery rate that the combined rounds of a node must "
	    "pass. The combination uses the smallest number of rounds that "
	    "includes the votes. The share of rounds with a healthy node as an "
	    "outlier, before its confirmation run, is therefore higher: with "
	    "the defaults 3 % with 256 nodes and 15 % with 10000." },
	{ "verdict", "votes", CONF_INT, 1, 16, NULL, "3", "rounds",
	    "Number of slow rounds that make a node an outlier." },
	{ "verdict", "window", CONF_INT, 1, 16, NULL, "5", "rounds",
	    "Number of most recent rounds that the votes are counted in." },
	{ "verdict", "clean", CONF_INT, 1, 1000, NULL, "5", "rounds",
	    "Number of consecutive normal rounds that end a verdict." },
	{ "verdict", "stale", CONF_SPAN, 10, 365 * DAY_S, NULL, "1d", "s",
	    "A node without a measurement for this long is unknown." },
	{ "verdict", "second_pass", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Whether outliers are measured again among normal nodes, in a "
	    "confirmation run." },
	{ "verdict", "second_pass_per_hour", CONF_INT, 0, 1000, NULL, "20", "1",
	    "Maximum number of confirmation runs in an hour; each uses six "
	    "nodes." },
	{ "verdict", "follow_up", CONF_INT, 0, 1000, NULL, "20", "1",
	    "Maximum number of follow-up runs in an hour. A node or leaf that "
	    "one round shows at least half as slow again as usual is measured "
	    "again within a minute; so is one that was that slow and is normal "
	    "again. 0: wait for the next rounds." },
	{ "verdict", "baseline", CONF_STRING, 1, 63, NULL, "commissioning", "",
	    "Pinned baseline that nodes are compared with." },
	{ "topology", "leaf_prefix", CONF_INT, 0, 32, NULL, "24", "bits",
	    "Nodes whose addresses share this many bits share a leaf switch. "
	    "0: one leaf for all." },
	{ "topology", "leaves", CONF_STRING, 0, 4000, NULL, "", "",
	    "Topology file, one leaf a line, for example leaf1 n[001-040]; it "
	    "replaces leaf_prefix. Create it with coalctl topology import. "
	    "SIGHUP reloads it." },
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
	    "rejects the agent, all of them are tried before the next backoff. "
	    "A collector that has been superseded is ignored." },
	{ "agent", "name", CONF_STRING, 0, 255, NULL, "", "",
	    "Node name; the certificate must contain it. Empty: the host "
	    "name." },
	{ "agent", "state_dir", CONF_STRING, 1, 4000, NULL,
	    "/var/lib/coalmine-agent", "",
	    "Directory of the spool, and of data about runs to clean up." },
	{ "agent", "run_dir", CONF_STRING, 1, 80, NULL, "/run/coalmine-agent",
	    "", "Directory of sockets and files of active runs." },
	{ "agent", "log", CONF_CHOICE, 0, 0, "error|warn|info|debug|trace",
	    "info", "", "Log level." },
	{ "agent", "spool_max", CONF_BYTES, 64.0 * 1024, 1024 * GIB, NULL,
	    "64M", "bytes",
	    "Maximum size of the spool. The oldest raw records are dropped "
	    "first." },
	{ "agent", "grace", CONF_SPAN, 1, 3600, NULL, "100s", "s",
	    "Runs are ended if the collector is unreachable for this long. The "
	    "default covers a restart of the collector and the reconnect of "
	    "20,000 agents on two cores." },
	{ "agent", "enroll", CONF_STRING, 0, 4000, NULL,
	    "/etc/coalmine/pki/enroll", "",
	    "Enrolment, if tls.ca, tls.cert and tls.key do not exist: a token "
	    "of coalctl pki token, or a file with one; or munge, with a munge "
	    "credential." },
	{ "agent", "munge_users", CONF_STRING, 1, 400, NULL, "root, coalmine",
	    "",
	    "Users, by name or number, that the collector runs as on its host; "
	    "with enroll = munge only their credentials are accepted as those "
	    "of a collector." },
	{ "agent", "munge_socket", CONF_STRING, 0, 100, NULL, "", "",
	    "Socket of munged. Empty: the default of libmunge." },
	{ "agent", "in_band", CONF_STRING, 0, 4000, NULL, "", "",
	    "Folder on a local disk in which jobs write their own measurements "
	    "of collectives: NCCL's inspector, libcoalmine-pmpi.so. Empty: "
	    "disabled." },
	{ "agent", "ras_port", CONF_INT, 0, 65535, NULL, "0", "",
	    "TCP port of NCCL's RAS, 28028 unless NCCL_RAS_ADDR changes it. "
	    "The agent reads it every 30 s for jobs of the node. 0: "
	    "disabled." },
	{ "tls", "ca", CONF_STRING, 1, 4000, NULL, "/etc/coalmine/pki/ca.pem",
	    "", "Certificate of the site's authority." },
	{ "tls", "cert", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/pki/agent.pem", "", "Own certificate." },
	{ "tls", "key", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/pki/agent.key", "", "Own key." },
	{ "tls", "crl", CONF_STRING, 0, 4000, NULL, "", "",
	    "Certificate revocation lists (PEM), one for each authority of "
	    "tls.ca and each intermediate one. Empty: only the lists that "
	    "collectors send, which are stored in state_dir." },
	{ "children", "user", CONF_STRING, 0, 64, NULL, "coalmine-probe", "",
	    "User that probes run as if the agent is root; not the user of the "
	    "collector." },
	{ "children", "allow_root", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Whether probes may run as root, if user is root or empty. "
	    "Otherwise such runs are rejected." },
	{ "children", "libexec", CONF_STRING, 1, 4000, NULL,
	    "/usr/libexec/coalmine", "",
	    "Directory of the engines and helper programs." },
	{ "children", "openmpi", CONF_STRING, 0, 4000, NULL, "/usr/bin", "",
	    "Directory of mpirun and orted. Empty: Open MPI is not offered." },
	{ "children", "mpich", CONF_STRING, 0, 4000, NULL, "/usr/bin", "",
	    "Directory of mpiexec.hydra and hydra_pmi_proxy. Empty: MPICH is "
	    "not offered." },
	{ "children", "probes", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/probes.d", "",
	    "Directory of the site's own MPIs, a file each, as written by "
	    "coalmine-build-probe(8). Read at the start only." },
	{ "children", "slurm", CONF_STRING, 0, 4000, NULL, "/usr/bin", "",
	    "Directory of srun, for campaigns with launcher = slurm. Empty: "
	    "not offered." },
	{ "children", "slurm_conf", CONF_STRING, 0, 4000, NULL, "", "",
	    "slurm.conf for srun. Empty: Slurm's default." },
	{ "children", "command", CONF_STRING, 0, 4000, NULL, "", "",
	    "Command for campaigns with launcher = command. It submits a job "
	    "to another batch system and must not return before the job has "
	    "ended, for example /usr/bin/flux run -N {nodes} "
	    "--requires=hosts:{hostlist} {command}." },
	{ "children", "programs", CONF_STRING, 0, 4000, NULL, "", "",
	    "Programs, by absolute path and separated by commas, that "
	    "command.run of a campaign may start. Empty: none." },
	{ "children", "tables", CONF_STRING, 0, 4000, NULL, "", "",
	    "Directory in which a campaign may store a tuner's table, as "
	    "multipath.table. Empty: not permitted." },
	{ "children", "file_max", CONF_BYTES, 0, 1024 * GIB, NULL, "16G",
	    "bytes",
	    "Maximum size of a file that a probe writes. 0: no limit." },
	{ "children", "processes_max", CONF_INT, 0, 10000000, NULL, "16384",
	    "1",
	    "Maximum number of processes and threads of children.user on this "
	    "node, all runs together. 0: no limit." },
	{ "children", "deadline_max", CONF_SPAN, 1, DAY_S, NULL, "1h", "s",
	    "Maximum lifetime of a child; it overrides the deadline of a "
	    "campaign." },
	{ "mpi", "net", CONF_NETS, 0, 200, NULL, "", "",
	    "Networks of MPI traffic, for example 10.1.0.0/16. Empty: the "
	    "networks that all nodes of a run share, as found by the "
	    "collector." },
	{ "mpi", "fabric", CONF_CHOICE, 0, 0, NAMES_FABRICS, "auto", "",
	    "Default of mpi.fabric for campaigns that do not set it: what "
	    "carries the bytes of ranks. auto is the MPI's own choice for any "
	    "job." },
	{ "mpi", "ports", CONF_STRING, 0, 16, NULL, "", "",
	    "TCP ports on which ranks accept connections, for a firewall "
	    "between nodes, for example 20000-20100; each rank takes up to "
	    "two. Empty: any port of the kernel's range." },
	{ "mpi", "ucx_tls", CONF_STRING, 0, 64, NULL, "", "",
	    "UCX_TLS of ranks. Empty: UCX chooses." },
	{ "mpi", "nics", CONF_STRING, 0, 1000, NULL, "", "",
	    "NICs for the ranks of a node, in this order and repeated for "
	    "further ranks, for example eth0,eth1 or mlx5_0,mlx5_1. These NICs "
	    "are also the rails for mpi.rails = turns, and are counted by "
	    "coverage. Empty: the MPI chooses, and the rails are all active "
	    "InfiniBand and Slingshot ports." },
	{ "mpi", "bind", CONF_CHOICE, 0, 0, "auto|none|core|numa", "auto", "",
	    "Default of mpi.bind for campaigns that do not set it: what ranks "
	    "are bound to." },
	{ "mpi", "mca", CONF_STRING, 0, 1000, NULL, "", "",
	    "Additional Open MPI parameters: "
	    "name=value,name=\"value,value\"." },
	{ "mpi", "env", CONF_STRING, 0, 2000, NULL, "", "",
	    "Environment variables of every rank, for example "
	    "UCX_TLS=\"rc,self\",UCX_IB_GID_INDEX=3." },
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
	    "Networks, separated by commas, to which the agent sends echoes. "
	    "It ignores targets outside of them, whatever the collector "
	    "orders. Empty: all." },
	{ "idle", "check", CONF_CHOICE, 0, 0,
	    "auto|always|command|slurm-cgroup|load", "auto", "",
	    "How to tell that the node is idle before exclusive work: auto "
	    "looks for jobs of Slurm, and refuses the work on nodes without "
	    "Slurm; always does not look." },
	{ "idle", "command", CONF_STRING, 0, 4000, NULL, "", "",
	    "Command for check = command; exit status 0 means idle." },
	{ "idle", "load", CONF_REAL, 0, 10000, NULL, "0.5", "1",
	    "For check = load: the node is idle if its load per core is below "
	    "this and no process computes on a GPU, as far as drivers report "
	    "it." },
	{ NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL },
};

const struct conf_row options_probe[] = {
	{ "probe", "mpi", CONF_CHOICE, 0, 0, "openmpi|mpich", NULL, "",
	    "Family of the MPI, which decides how its launcher is used. "
	    "MVAPICH, Intel MPI and Cray MPICH belong to mpich." },
	{ "probe", "engine", CONF_STRING, 1, 4000, NULL, NULL, "",
	    "Path of the engine that was built for it." },
	{ "probe", "bin", CONF_STRING, 0, 4000, NULL, "", "",
	    "Directory of its launcher, whose version is reported. Empty: it "
	    "has no launcher, as Cray MPICH." },
	{ "probe", "wireup", CONF_CHOICE, 0, 0, "auto|pmix|pmi", "auto", "",
	    "Wire-up of its ranks: PMIx, or PMI-1 and PMI-2. auto: pmix for "
	    "openmpi, pmi for mpich. coalmine-build-probe(8) tries both." },
	{ "probe", "slurm", CONF_STRING, 0, 64, NULL, "", "",
	    "Wire-up by srun, its option --mpi, for example cray_shasta. "
	    "Empty: pmix for openmpi, pmi2 for mpich." },
	{ "probe", "version", CONF_STRING, 0, 64, NULL, "", "",
	    "Coalmine version of the engine." },
	{ NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL },
};

const struct conf_row options_scan[] = {
	{ "scan", "within", CONF_SPAN, 10, 600, NULL, "40s", "s",
	    "Time limit of all measurements, without the start of the MPI job. "
	    "Nodes that are undecided by then are reported as open." },
	{ "scan", "tests", CONF_CHOICES, 0, 0, "lat|bw|incast", "lat,bw,incast",
	    "",
	    "Tests: latency and bandwidth of pairs of nodes, which decide "
	    "about nodes, and incast, many senders to one receiver." },
	{ "scan", "expect", CONF_STRING, 0, 400, NULL, "", "",
	    "Promised rate that a node sends and receives at the same time, in "
	    "each direction, for example 200gbit or 25GB/s, or a machine file "
	    "of coalmine-machine(5). A node below 85 % of it is reported." },
	{ "scan", "device", CONF_CHOICE, 0, 0, NAMES_DEVICES, "host", "",
	    "Memory of the buffers. Memory of a GPU requires an MPI that "
	    "accepts its pointers." },
	{ "scan", "json", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Print the result as one JSON object; a flag without a value." },
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
