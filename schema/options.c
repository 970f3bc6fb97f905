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
	    "Address for agents (mutual TLS); [::]:17700 where agents have "
	    "IPv6 addresses." },
	{ "collector", "state_dir", CONF_STRING, 1, 4000, NULL,
	    "/var/lib/coalmine", "", "The store; a local file system." },
	{ "collector", "campaign_dir", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/campaigns", "", "Campaign files, NAME.conf." },
	{ "collector", "log", CONF_CHOICE, 0, 0, "error|warn|info|debug|trace",
	    "info", "", "Log level." },
	{ "cluster", "name", CONF_STRING, 0, 40, NULL, "", "",
	    "Which of several clusters, a to z, 0 to 9 and _, beginning with a "
	    "letter: all its collectors have the same, no other cluster's; "
	    "with store.url it is the schema, and collectors of all such "
	    "clusters in that database tell of each other; empty: there is "
	    "one." },
	{ "cluster", "url", CONF_URLS, 0, 400, NULL, "", "",
	    "Address of this collector for coalctl --cluster, as "
	    "https://collector:17702; empty: of this host and "
	    "http.tls_listen." },
	{ "collector", "agents_max", CONF_INT, 1, 100000, NULL, "24000", "1",
	    "Connections from agents at one time." },
	{ "collector", "heartbeat", CONF_SPAN, 0.1, 60, NULL, "2s", "s",
	    "Interval of heartbeats, both ways; a 2000th of a second for each "
	    "node where that is more: 10s with 20,000." },
	{ "collector", "silence", CONF_SPAN, 0.5, 600, NULL, "10s", "s",
	    "An agent that was silent for this long is lost, or for two and a "
	    "half heartbeats where their interval has grown." },
	{ "tls", "ca", CONF_STRING, 1, 4000, NULL, "/etc/coalmine/pki/ca.pem",
	    "",
	    "Certificate of an authority of Coalmine's own: whoever has one of "
	    "its certificates with role operator gives orders." },
	{ "tls", "cert", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/pki/collector.pem", "", "Own certificate." },
	{ "tls", "key", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/pki/collector.key", "",
	    "Own key; where the collector may not read it, a credential of "
	    "systemd with the name of that file." },
	{ "tls", "crl", CONF_STRING, 0, 4000, NULL, "", "",
	    "Revoked certificates, one list (PEM) for each authority of "
	    "tls.ca; empty: none is looked for; read again at SIGHUP, when "
	    "agents whose certificate is on it are dropped." },
	{ "enroll", "ca", CONF_STRING, 0, 4000, NULL, "", "",
	    "Authority that signs certificates of new nodes, which ask for "
	    "them by a token, and of agents whose certificate is old: "
	    "enroll.pem of coalctl pki enroller; empty: nobody is enrolled." },
	{ "enroll", "key", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/pki/enroll.key", "",
	    "Its key, or a credential of systemd with the name of that "
	    "file." },
	{ "enroll", "life", CONF_SPAN, 10, 3650 * DAY_S, NULL, "90d", "s",
	    "Validity of what is signed; agents renew theirs at two thirds of "
	    "it." },
	{ "enroll", "munge_users", CONF_STRING, 0, 400, NULL, "", "",
	    "Users whose credentials of munge enrol the node of their address, "
	    "names or numbers, such as root; empty: nobody's; read at the "
	    "start." },
	{ "enroll", "munge_socket", CONF_STRING, 0, 100, NULL, "", "",
	    "Socket of munged; empty: that of its library." },
	{ "http", "listen", CONF_ADDRESS, 0, 200, NULL, "127.0.0.1:17701", "",
	    "Read-only HTTP: page, metrics, API; empty: none." },
	{ "http", "socket", CONF_STRING, 0, 100, NULL,
	    "/run/coalmine/coalmined.sock", "",
	    "Unix socket for orders by root and the collector's own user." },
	{ "http", "tls_listen", CONF_ADDRESS, 0, 200, NULL, "", "",
	    "HTTPS with client certificates for remote coalctl; empty: none." },
	{ "http", "hosts", CONF_STRING, 0, 2000, NULL, "", "",
	    "Names by which browsers and scrapers may reach http.listen, with "
	    "commas between, beside addresses, localhost and the name of the "
	    "host; others are refused, as a page elsewhere may have a name of "
	    "its own point here." },
	{ "http", "connections_max", CONF_INT, 1, 100000, NULL, "256", "1",
	    "HTTP connections at one time." },
	{ "alerts", "webhook", CONF_URLS, 0, 2000, NULL, "", "",
	    "Addresses that receive alerts about outliers, lost agents and the "
	    "collector itself, in the format of Alertmanager's webhooks, with "
	    "commas between; empty: none." },
	{ "alerts", "page", CONF_URLS, 0, 400, NULL, "", "",
	    "Address of the collector's page as people reach it, for links in "
	    "alerts, as http://collector:17701/." },
	{ "events", "webhook", CONF_URLS, 0, 2000, NULL, "", "",
	    "Addresses that receive each event as a CloudEvent, with commas "
	    "between; empty: none; coalmine-output(7) has their members." },
	{ "events", "nats", CONF_STRING, 0, 2000, NULL, "", "",
	    "Servers of a NATS with JetStream, as nats://n1:4222 or "
	    "tls://n1:4222, with commas between; needs coalmine-sink-nats." },
	{ "events", "kafka", CONF_STRING, 0, 2000, NULL, "", "",
	    "Brokers of a Kafka, as k1:9092, with commas between; needs "
	    "coalmine-sink-kafka." },
	{ "events", "topic", CONF_STRING, 1, 200, NULL, "coalmine", "",
	    "Topic of Kafka; of NATS the first part of the subject: "
	    "coalmine.verdict." },
	{ "events", "source", CONF_STRING, 0, 200, NULL, "", "",
	    "Attribute source of events, a URI reference; empty: "
	    "/coalmine/ and cluster.name, or else the host, so it is to be "
	    "given where another host may take over." },
	{ "events", "keep", CONF_SPAN, 60, 3650 * DAY_S, NULL, "7d", "s",
	    "An event that could not be sent for this long is left out and "
	    "counted; at most store.retention." },
	{ "events", "behind", CONF_SPAN, 5, 365 * DAY_S, NULL, "10m", "s",
	    "A sink whose oldest event has waited for this long is reported "
	    "by coalctl diags, and to other sinks." },
	{ "events", "ca", CONF_STRING, 0, 4000, NULL, "", "",
	    "Authority of the sinks' certificates; empty: the system's." },
	{ "events", "cert", CONF_STRING, 0, 4000, NULL, "", "",
	    "Own certificate towards sinks; empty: none." },
	{ "events", "key", CONF_STRING, 0, 4000, NULL, "", "", "Its key." },
	{ "events", "nats_credentials", CONF_STRING, 0, 4000, NULL, "", "",
	    "File of user credentials for NATS (.creds); empty: none." },
	{ "events", "kafka_properties", CONF_STRING, 0, 4000, NULL, "", "",
	    "File of further properties of librdkafka, key=value, as "
	    "security.protocol=sasl_ssl; empty: none." },
	{ "links", "interval", CONF_SPAN, 0, DAY_S, NULL, "5m", "s",
	    "How often agents look at the error counters of all ports; 0: "
	    "never." },
	{ "store", "url", CONF_STRING, 0, 2000, NULL, "", "",
	    "Database of PostgreSQL that holds the store, as "
	    "postgresql://coalmine@db1,db2/coalmine?passfile=/etc/coalmine/"
	    "pgpass; needs coalmine-store-postgresql; empty: a file in "
	    "collector.state_dir." },
	{ "store", "schema", CONF_STRING, 1, 63, NULL, "coalmine", "",
	    "Schema of that database; cluster.name where that is given." },
	{ "store", "lease", CONF_SPAN, 0, 3600, NULL, "0s", "s",
	    "Of collectors of one cluster with the same store.url and "
	    "store.schema, of which all but one wait, all of them: the active "
	    "one that has not heard of the database for so long, at least 2s, "
	    "gives no orders any more, and another one takes over; 0s: there "
	    "is only this one, and a second one is refused." },
	{ "store", "retention", CONF_SPAN, 3600, 3650 * DAY_S, NULL, "90d", "s",
	    "Records older than this are deleted; none while the clock is over "
	    "a day ahead of the newest that is stored, which raises an alarm "
	    "for a week at most." },
	{ "store", "raw_retention", CONF_SPAN, 3600, 3650 * DAY_S, NULL, "7d",
	    "s",
	    "Older than this, round records and counters go, records of "
	    "background runs lose their lists of nodes and pairs, and those of "
	    "the mesh become one an hour." },
	{ "store", "free_min", CONF_BYTES, 0, 1024 * GIB, NULL, "64M", "bytes",
	    "Below this much free disk, writing stops and an alarm is "
	    "raised; not with store.url." },
	{ "quota", "run_records", CONF_INT, 10, 1000000000, NULL, "1000000",
	    "1",
	    "A head that sends more records of a run than this is not believed "
	    "any more: the run fails, and what else comes of it is dropped; as "
	    "many of runs that are over may come from a node in an hour." },
	{ "quota", "run_bytes", CONF_BYTES, 65536, 1024 * GIB, NULL, "2G",
	    "bytes", "The same for the bytes that they come in." },
	{ "quota", "queue", CONF_BYTES, 2.0 * 1024 * 1024, GIB, NULL, "4M",
	    "bytes",
	    "An agent that reads so slowly that more than this waits for it "
	    "loses its session." },
	{ "budget", "bytes", CONF_BYTES, 0, 1024.0 * 1024 * 1024 * GIB, NULL,
	    "0", "bytes",
	    "What runs may send in an hour, all nodes together; 0: no limit." },
	{ "budget", "node_seconds", CONF_REAL, 0, 1e12, NULL, "0", "s",
	    "Nodes times seconds that runs may take in an hour; 0: no limit." },
	{ "budget", "link_share", CONF_REAL, 0, 1, NULL, "0", "1",
	    "Share of any node's link that runs may use, averaged over an "
	    "hour; "
	    "0: no limit." },
	{ "budget", "blackout", CONF_STRING, 0, 400, NULL, "", "",
	    "No exclusive run in these spans, UTC, as 08:00-18:00 or "
	    "2026-12-24..2026-12-26." },
	{ "reaction", "action", CONF_CHOICE, 0, 0, "none|command|slurm-drain",
	    "none", "", "Reaction to a node whose verdict is bad." },
	{ "reaction", "dry_run", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Only write to the event log what would be done." },
	{ "reaction", "undo", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Undo it, and nothing else, when the verdict is ok again." },
	{ "reaction", "command", CONF_STRING, 0, 4000, NULL, "", "",
	    "With action = command: a line for the shell, with COALMINE_NODE, "
	    "COALMINE_VERDICT (bad or ok) and COALMINE_TEXT in its "
	    "environment." },
	{ "reaction", "nodes_per_hour", CONF_INT, 0, 1000, NULL, "4", "nodes",
	    "Reactions to no more nodes than this in an hour." },
	{ "reaction", "share_per_hour", CONF_REAL, 0, 1, NULL, "0.02", "1",
	    "Nor to more than this share of all nodes, rounded up." },
	{ "slurm", "dir", CONF_STRING, 1, 4000, NULL, "/usr/bin", "",
	    "Where sinfo, squeue, scontrol and scancel are." },
	{ "slurm", "conf", CONF_STRING, 0, 4000, NULL, "", "",
	    "Their slurm.conf; empty: where Slurm looks by itself." },
	{ "slurm", "idle", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Whether every exclusive run gets only nodes that Slurm calls "
	    "idle; runs with launcher = slurm always do." },
	{ "jobs", "source", CONF_CHOICE, 0, 0, "off|slurm|command", "off", "",
	    "Who says which jobs run on which nodes: nobody, squeue and sacct "
	    "of slurm.dir, or jobs.command." },
	{ "jobs", "command", CONF_STRING, 0, 4000, NULL, "", "",
	    "With source = command: a line for the shell that prints all jobs "
	    "that run or ended in the last minutes, one a line: "
	    "JOB|OWNER|STATE|START|END|NODES|NAME; see coalmined(8)." },
	{ "jobs", "interval", CONF_SPAN, 1, 3600, NULL, "1m", "s",
	    "How often it is asked." },
	{ "jobs", "accounting", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "With source = slurm: whether sacct is asked too, for jobs that "
	    "ended while nobody looked." },
	{ "jobs", "owners", CONF_CHOICE, 0, 0, "pseudonym|name", "pseudonym",
	    "",
	    "How owners are kept: by a keyed hash, or as they are called." },
	{ "jobs", "names", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Whether names of jobs are kept; without them all are called -, "
	    "and nothing is said of one program." },
	{ "jobs", "retention", CONF_SPAN, 3600, 3650 * DAY_S, NULL, "30d", "s",
	    "Jobs that ended before this are deleted." },
	{ "jobs", "proxy", CONF_STRING, 0, 128, NULL, "", "",
	    "Name of the certificate with which the site's proxy comes to "
	    "http.tls_listen and says by X-Forwarded-User who asks: that "
	    "user's jobs are shown; empty: jobs are for operators only." },
	{ "mesh", "enabled", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Whether agents exchange UDP echoes all the time." },
	{ "mesh", "interval", CONF_SPAN, 1, DAY_S, NULL, "5m", "s",
	    "An epoch: new targets, and a record for every class." },
	{ "mesh", "port", CONF_INT, 1, PORT_MAX, NULL, "17702", "",
	    "UDP port on which agents answer." },
	{ "mesh", "net", CONF_STRING, 0, 100, NULL, "", "",
	    "Network of the agents' addresses to use, as 10.1.0.0/16, best one "
	    "that carries MPI: echoes exercise the NICs that they go over; "
	    "empty: the one their session comes from." },
	{ "mesh", "leaf_targets", CONF_INT, 0, 16, NULL, "2", "nodes",
	    "Targets of a node on its own leaf." },
	{ "mesh", "spine_targets", CONF_INT, 0, 16, NULL, "2", "nodes",
	    "Targets of a node on other leaves." },
	{ "mesh", "round", CONF_SPAN, 0.1, 3600, NULL, "10s", "s",
	    "Every target gets a burst in this time, if the rates allow." },
	{ "mesh", "burst", CONF_INT, 1, 64, NULL, "4", "1",
	    "Datagrams of a burst: 64 bytes each, but the last (of bursts of 1 "
	    "every fourth) is as large as the MTU of both nodes allows, 9216 "
	    "bytes at most; with defaults a node sends 0.8 large ones a "
	    "second, answers included, 7 kB/s with an MTU of 9000." },
	{ "mesh", "rate", CONF_REAL, 0.1, 2000, NULL, "20", "1/s",
	    "A node sends no more datagrams than this." },
	{ "mesh", "target_rate", CONF_REAL, 0.01, 2000, NULL, "2", "1/s",
	    "A node sends one target no more datagrams than this." },
	{ "mesh", "timeout", CONF_SPAN, 0.01, 60, NULL, "1s", "s",
	    "An answer that takes longer is lost." },
	{ "verdict", "effect", CONF_REAL, 0.005, 1, NULL, "0.05", "1",
	    "A node that is slower than its peers by less than this is no "
	    "outlier." },
	{ "verdict", "fdr", CONF_REAL, 0.000001, 0.2, NULL, "0.01", "1",
	    "False discovery rate that the combined rounds of a node must "
	    "pass; they are the fewest that hold its votes, so more rounds "
	    "than this have a normal node as an outlier before the "
	    "confirmation run: with defaults 3 % with 256 nodes, 15 % with "
	    "10000." },
	{ "verdict", "votes", CONF_INT, 1, 16, NULL, "3", "rounds",
	    "A node that is slow in this many rounds is an outlier." },
	{ "verdict", "window", CONF_INT, 1, 16, NULL, "5", "rounds",
	    "They must be among this many of its last rounds." },
	{ "verdict", "clean", CONF_INT, 1, 1000, NULL, "5", "rounds",
	    "This many normal rounds in a row clear it." },
	{ "verdict", "stale", CONF_SPAN, 10, 365 * DAY_S, NULL, "1d", "s",
	    "A node that was not measured for this long is unknown." },
	{ "verdict", "second_pass", CONF_BOOL, 0, 0, NULL, "yes", "",
	    "Whether outliers are measured again among normal nodes, in a "
	    "confirmation run." },
	{ "verdict", "second_pass_per_hour", CONF_INT, 0, 1000, NULL, "20", "1",
	    "Confirmation runs in an hour, at most; each takes six nodes." },
	{ "verdict", "follow_up", CONF_INT, 0, 1000, NULL, "20", "1",
	    "Runs in an hour, at most, that follow one large effect at once: "
	    "a node or leaf that one round shows half as slow again as usual "
	    "or worse is measured among others in the next minute, and one "
	    "that was so and is normal again likewise; 0: the next rounds "
	    "decide." },
	{ "verdict", "baseline", CONF_STRING, 1, 63, NULL, "commissioning", "",
	    "Name of the pinned baseline that nodes are compared with." },
	{ "topology", "leaf_prefix", CONF_INT, 0, 32, NULL, "24", "bits",
	    "Nodes whose addresses share this many bits share a leaf switch; "
	    "0: one leaf for all." },
	{ "topology", "leaves", CONF_STRING, 0, 4000, NULL, "", "",
	    "A file that says it instead, one leaf a line as leaf1 "
	    "n[001-040]; SIGHUP has it read again. coalctl topology import "
	    "makes it of those of a fabric or of Slurm." },
	/* removed */
	{ "collector.copy_of", NULL, 0, 0, 0, NULL, NULL, NULL, NO_COPY },
	{ "store.copy_wait", NULL, 0, 0, 0, NULL, NULL, NULL, NO_COPY },
	{ NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL },
};

const struct conf_row options_agent[] = {
	{ "agent", "collector", CONF_ADDRESS, 3, 1000, NULL, "collector:17700",
	    "",
	    "The collector, host:port; others behind it, with commas between, "
	    "are tried at once where it does not answer or refuses, all of "
	    "them before the next wait, and who was taken over is not "
	    "followed." },
	{ "agent", "name", CONF_STRING, 0, 255, NULL, "", "",
	    "Node name; empty: the host's. The certificate must carry it." },
	{ "agent", "state_dir", CONF_STRING, 1, 4000, NULL,
	    "/var/lib/coalmine-agent", "",
	    "The spool, and leftovers of runs to clean up." },
	{ "agent", "run_dir", CONF_STRING, 1, 80, NULL, "/run/coalmine-agent",
	    "", "Sockets and files of running work." },
	{ "agent", "log", CONF_CHOICE, 0, 0, "error|warn|info|debug|trace",
	    "info", "", "Log level." },
	{ "agent", "spool_max", CONF_BYTES, 64.0 * 1024, 1024 * GIB, NULL,
	    "64M", "bytes", "Spool limit; the oldest raw data is dropped." },
	{ "agent", "grace", CONF_SPAN, 1, 3600, NULL, "100s", "s",
	    "Runs are ended when the collector is away for this long: its "
	    "restart, and the return of 20,000 agents on two cores." },
	{ "agent", "enroll", CONF_STRING, 0, 4000, NULL,
	    "/etc/coalmine/pki/enroll", "",
	    "A token of coalctl pki token, or a file with one, by which "
	    "tls.ca, "
	    "tls.cert and tls.key are asked for where they are not there; or "
	    "munge: by a credential of munge." },
	{ "agent", "munge_users", CONF_STRING, 1, 400, NULL, "root, coalmine",
	    "",
	    "Users whose credential of munge is that of a collector, names or "
	    "numbers: whom it runs as there; for enroll = munge." },
	{ "agent", "munge_socket", CONF_STRING, 0, 100, NULL, "", "",
	    "Socket of munged; empty: that of its library." },
	{ "agent", "in_band", CONF_STRING, 0, 4000, NULL, "", "",
	    "Folder of a local disk in which jobs leave what they measure of "
	    "their own collectives: NCCL's inspector, libcoalmine-pmpi.so; "
	    "empty: none is looked at." },
	{ "tls", "ca", CONF_STRING, 1, 4000, NULL, "/etc/coalmine/pki/ca.pem",
	    "", "Certificate of the site's authority." },
	{ "tls", "cert", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/pki/agent.pem", "", "Own certificate." },
	{ "tls", "key", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/pki/agent.key", "", "Own key." },
	{ "tls", "crl", CONF_STRING, 0, 4000, NULL, "", "",
	    "Revoked certificates, one list (PEM) for each authority of tls.ca "
	    "and those below; empty: only the lists that collectors hand over, "
	    "which are kept in state_dir." },
	{ "children", "user", CONF_STRING, 0, 64, NULL, "coalmine-probe", "",
	    "User that probes run as when the agent is root; not the "
	    "collector's." },
	{ "children", "allow_root", CONF_BOOL, 0, 0, NULL, "no", "",
	    "Whether probes may run as root, where user is root or empty; runs "
	    "are refused otherwise." },
	{ "children", "libexec", CONF_STRING, 1, 4000, NULL,
	    "/usr/libexec/coalmine", "", "Where the engines and helpers are." },
	{ "children", "openmpi", CONF_STRING, 0, 4000, NULL, "/usr/bin", "",
	    "Directory of mpirun and orted; empty: not offered." },
	{ "children", "mpich", CONF_STRING, 0, 4000, NULL, "/usr/bin", "",
	    "Directory of mpiexec.hydra and hydra_pmi_proxy; empty: not "
	    "offered." },
	{ "children", "probes", CONF_STRING, 1, 4000, NULL,
	    "/etc/coalmine/probes.d", "",
	    "Folder of the site's own MPIs, a file each, as "
	    "coalmine-build-probe(8) writes them; read at the start." },
	{ "children", "slurm", CONF_STRING, 0, 4000, NULL, "/usr/bin", "",
	    "Directory of srun, for campaigns with launcher = slurm; empty: "
	    "not offered." },
	{ "children", "slurm_conf", CONF_STRING, 0, 4000, NULL, "", "",
	    "slurm.conf of srun; empty: where Slurm looks by itself." },
	{ "children", "command", CONF_STRING, 0, 4000, NULL, "", "",
	    "For campaigns with launcher = command: the line that submits a "
	    "job to another batch system and stays until it has ended, as "
	    "/usr/bin/flux run -N {nodes} --requires=hosts:{hostlist} "
	    "{command}." },
	{ "children", "programs", CONF_STRING, 0, 4000, NULL, "", "",
	    "Programs that a campaign's command.run may be, with commas "
	    "between, by their whole paths; empty: none." },
	{ "children", "tables", CONF_STRING, 0, 4000, NULL, "", "",
	    "Folder below which a campaign may keep a table of its tuner, as "
	    "multipath.table; empty: none may." },
	{ "children", "file_max", CONF_BYTES, 0, 1024 * GIB, NULL, "16G",
	    "bytes", "A file that a probe writes is no longer; 0: no limit." },
	{ "children", "processes_max", CONF_INT, 0, 10000000, NULL, "16384",
	    "1",
	    "Processes and threads of children.user on this node, all runs "
	    "together; 0: no limit." },
	{ "children", "deadline_max", CONF_SPAN, 1, DAY_S, NULL, "1h", "s",
	    "No child lives longer, whatever a campaign says." },
	{ "mpi", "net", CONF_NETS, 0, 200, NULL, "", "",
	    "Networks of MPI traffic, as 10.1.0.0/16; empty: those that all "
	    "nodes of a run share, as the collector finds." },
	{ "mpi", "fabric", CONF_CHOICE, 0, 0, NAMES_FABRICS, "auto", "",
	    "Where a campaign does not say it: what carries the bytes of "
	    "ranks; auto is what the MPI chooses for any job." },
	{ "mpi", "ucx_tls", CONF_STRING, 0, 64, NULL, "", "",
	    "UCX_TLS of ranks; empty: UCX's choice." },
	{ "mpi", "nics", CONF_STRING, 0, 1000, NULL, "", "",
	    "NICs for the ranks of a node, in their order, from the front "
	    "again behind the last, as eth0,eth1 or mlx5_0,mlx5_1; those that "
	    "take turns (mpi.rails) and are counted by coverage; empty: the "
	    "MPI's choice, turns of all active InfiniBand and Slingshot "
	    "ports." },
	{ "mpi", "bind", CONF_CHOICE, 0, 0, "auto|none|core|numa", "auto", "",
	    "Where a campaign does not say it: what ranks are bound to." },
	{ "mpi", "mca", CONF_STRING, 0, 1000, NULL, "", "",
	    "More Open MPI parameters, as name=value,name=\"value,value\"." },
	{ "mpi", "env", CONF_STRING, 0, 2000, NULL, "", "",
	    "Variables for the environment of every rank, as "
	    "UCX_TLS=\"rc,self\",UCX_IB_GID_INDEX=3." },
	{ "mpi", "allow", CONF_STRING, 0, 2000, NULL,
	    "UCX_*,FI_*,PSM2_*,PSM3_*,NCCL_*,RCCL_*,MPIR_CVAR_*,MPICH_*,"
	    "CUDA_VISIBLE_DEVICES,HIP_VISIBLE_DEVICES,ROCR_VISIBLE_DEVICES,"
	    "OMP_NUM_THREADS,OMPI_MCA_pml*,OMPI_MCA_mtl*,OMPI_MCA_btl*,"
	    "OMPI_MCA_osc*,OMPI_MCA_coll*,OMPI_MCA_mpi_*,"
	    "OMPI_MCA_opal_common_ucx*",
	    "",
	    "Variables that a campaign's mpi.env may set, and with OMPI_MCA_ "
	    "before them parameters of its mpi.mca; never one that names a "
	    "file or a program; empty: none." },
	{ "mesh", "net", CONF_NETS, 0, 1000, NULL,
	    "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,127.0.0.0/8,"
	    "fc00::/7,fe80::/10",
	    "",
	    "Networks that echoes are sent to, with commas between, whatever "
	    "the collector orders; empty: all." },
	{ "idle", "check", CONF_CHOICE, 0, 0,
	    "auto|always|command|slurm-cgroup|load", "auto", "",
	    "How to tell that the node is idle before exclusive work: auto "
	    "looks for jobs of Slurm, and refuses the work where there is no "
	    "Slurm; always does not look." },
	{ "idle", "command", CONF_STRING, 0, 4000, NULL, "", "",
	    "With check = command: exit 0 means idle." },
	{ "idle", "load", CONF_REAL, 0, 10000, NULL, "0.5", "1",
	    "With check = load: idle below this load per core, and without a "
	    "process that computes on a GPU, as far as drivers tell." },
	{ NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL },
};

const struct conf_row options_probe[] = {
	{ "probe", "mpi", CONF_CHOICE, 0, 0, "openmpi|mpich", NULL, "",
	    "The family that the MPI is of: how its launcher is spoken to; "
	    "MVAPICH, Intel MPI and Cray MPICH are of mpich." },
	{ "probe", "engine", CONF_STRING, 1, 4000, NULL, NULL, "",
	    "The path of the engine that was built for it." },
	{ "probe", "bin", CONF_STRING, 0, 4000, NULL, "", "",
	    "Directory of its launcher, which gives its version; empty: it has "
	    "none, as Cray's." },
	{ "probe", "wireup", CONF_CHOICE, 0, 0, "auto|pmix|pmi", "auto", "",
	    "How its ranks find one another: by PMIx, or by PMI-1 or PMI-2; "
	    "auto: pmix for openmpi, pmi for mpich. "
	    "coalmine-build-probe(8) tries both." },
	{ "probe", "slurm", CONF_STRING, 0, 64, NULL, "", "",
	    "How srun wires up its ranks, its option --mpi, as cray_shasta; "
	    "empty: pmix for openmpi, pmi2 for mpich." },
	{ "probe", "version", CONF_STRING, 0, 64, NULL, "", "",
	    "The version of Coalmine that the engine is of." },
	{ NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL },
};

const struct conf_row options_scan[] = {
	{ "scan", "within", CONF_SPAN, 10, 600, NULL, "40s", "s",
	    "Time for all measurements, the start of the MPI job excluded; "
	    "what is not settled by then is reported as open." },
	{ "scan", "tests", CONF_CHOICES, 0, 0, "lat|bw|incast", "lat,bw,incast",
	    "",
	    "What is measured: latency and bandwidth of pairs of nodes, by "
	    "which nodes are judged, and many senders to one receiver." },
	{ "scan", "expect", CONF_STRING, 0, 400, NULL, "", "",
	    "A promise: what a node sends and receives at the same time, each "
	    "way, as 200gbit or 25GB/s, or a machine file of "
	    "coalmine-machine(5); a node below 85 % of it is reported." },
	{ "scan", "device", CONF_CHOICE, 0, 0, NAMES_DEVICES, "host", "",
	    "Memory that is sent from and received into; of a GPU only where "
	    "the MPI takes its pointers." },
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
