#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make.py DIR TABLES - write the dashboards, one JSON file each, into DIR.

TABLES is the program coalmine-tables of the build: it prints the
metrics that are made from records. A family that no panel below uses gets a
separate panel on the dashboard that its row names.

The classic model, schemaVersion 39: Grafana 10.3 and later take it as it is.
The datasource is a variable, so that a file is provisioned without inputs.
"""
import json
import os
import subprocess
import sys

WIDE, HALF, THIRD, QUARTER = 24, 12, 8, 6
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
JOB = 'job=~"$job"'


def target(i, expr, legend, **more):
    return {"refId": chr(ord("A") + i), "datasource": SOURCE, "expr": expr,
            "legendFormat": legend, "range": True, "editorMode": "code",
            **more}


def panel(kind, title, about, queries, unit="short", width=HALF, height=8,
          defaults=None, options=None, instant=False):
    """queries: [(expr, legend)]; JOB stands where an expr says %s."""
    more = {"instant": True, "range": False} if instant else {}
    if kind == "table":
        more["format"] = "table"
    if kind == "heatmap":
        more["format"] = "heatmap"
    return {"type": kind, "title": title, "description": about,
            "datasource": SOURCE,
            "gridPos": {"w": width, "h": height, "x": 0, "y": 0},
            "targets": [target(i, e.replace("%s", JOB), l, **more)
                        for i, (e, l) in enumerate(queries)],
            "fieldConfig": {"defaults": {"unit": unit, **(defaults or {})},
                            "overrides": []},
            "options": options or {}}


def steps(*rows):
    """[(from, colour)]; the first from is None."""
    return {"thresholds": {"mode": "absolute", "steps": [
        {"value": v, "color": c} for v, c in rows]}}


def graph(title, about, queries, unit="short", log=False, **more):
    custom = {"lineWidth": 1, "fillOpacity": 5, "showPoints": "auto",
              "spanNulls": 3600000}
    if log:
        custom["scaleDistribution"] = {"type": "log", "log": 10}
    return panel("timeseries", title, about, queries, unit, defaults={
        "custom": custom}, options={"legend": {
            "displayMode": "list", "placement": "bottom", "showLegend": True,
            "calcs": []}, "tooltip": {"mode": "multi", "sort": "desc"}},
        **more)


def stat(title, about, queries, unit="short", colours=None, **more):
    return panel("stat", title, about, queries, unit, width=QUARTER, height=4,
                 defaults=colours, options={
                     "colorMode": "background", "graphMode": "none",
                     "reduceOptions": {"calcs": ["lastNotNull"],
                                       "fields": "", "values": False}},
                 instant=True, **more)


def rows(title, about, queries, unit="short", **more):
    return panel("table", title, about, queries, unit, instant=True,
                 options={"showHeader": True, "cellHeight": "sm"}, **more)


def place(panels):
    """From left to right, then the next line."""
    x = y = tall = 0
    for i, p in enumerate(panels):
        at = p["gridPos"]
        if x + at["w"] > WIDE:
            x, y, tall = 0, y + tall, 0
        at["x"], at["y"], p["id"] = x, y, i + 1
        x, tall = x + at["w"], max(tall, at["h"])
    return panels


def variable(name, label, query, multi=True):
    return {"type": "query", "name": name, "label": label, "refresh": 2,
            "datasource": SOURCE, "query": {"query": query,
                                            "refId": "variable"},
            "definition": query, "sort": 7, "multi": multi,
            "includeAll": multi, "allValue": ".+" if multi else None,
            "current": {"text": ["All"], "value": ["$__all"]} if multi
            else {}, "hide": 0, "skipUrlSync": False, "options": []}


def verdicts():
    """Regions in all graphs: while a verdict names a node, leaf or spine."""
    return [{"name": f"Verdicts: {kind}", "datasource": SOURCE,
             "enable": True, "hide": False, "iconColor": "red",
             "expr": "coalmine_" + kind + "_verdict{" + JOB + "}",
             "step": "60s", "useValueForTime": False,
             "titleFormat": "{{" + kind + "}} {{verdict}}",
             "textFormat": "{{what}}", "tagKeys": "verdict,what"}
            for kind in ("node", "leaf", "spine")]


def dashboard(uid, title, about, panels, *variables):
    return {"uid": "coalmine-" + uid, "title": "Coalmine / " + title,
            "description": about, "id": None, "version": 1,
            "schemaVersion": 39, "editable": False, "tags": ["coalmine"],
            "refresh": "1m", "time": {"from": "now-24h", "to": "now"},
            "timezone": "browser", "graphTooltip": 1,
            "fiscalYearStartMonth": 0, "liveNow": False, "weekStart": "",
            "annotations": {"list": verdicts()}, "links": [{
                "title": "Coalmine", "type": "dashboards",
                "tags": ["coalmine"], "asDropdown": True, "icon": "",
                "includeVars": True, "keepTime": True, "targetBlank": False,
                "tooltip": "", "url": ""}],
            "templating": {"list": [
                {"type": "datasource", "name": "datasource",
                 "label": "Data source", "query": "prometheus", "refresh": 1,
                 "current": {"text": "", "value": ""}, "hide": 0, "includeAll": False,
                 "multi": False, "options": [], "regex": "",
                 "skipUrlSync": False},
                variable("job", "Job", "label_values(coalmine_build_info, job)"),
                *variables]},
            "panels": place(panels)}


GOOD_BAD = steps((None, "green"), (1, "red"))

OVERVIEW = dashboard("overview", "overview", "Is the network healthy now?", [
    stat("Outliers", "Nodes and leaves that are slower than their peers, "
         "after hysteresis. The collector's page has the evidence.",
         [("sum(coalmine_outliers{%s})", "")], colours=GOOD_BAD),
    stat("Agents lost", "Agents without contact: their nodes are not "
         "measured.",
         [('sum(coalmine_agents{%s, state="lost"})', "")], colours=GOOD_BAD),
    stat("Worst impact, p99", "How many times slower the worst canary is "
         "under congestion; 1: no impact.",
         [('max(coalmine_congestion_impact{%s, of="p99"})', "")], "none",
         steps((None, "green"), (5, "yellow"), (20, "red"))),
    stat("Since the last success", "Time since a run of any campaign "
         "finished.",
         [("min(time() - coalmine_campaign_last_success_timestamp_seconds"
           "{%s})", "")], "s", steps((None, "green"), (86400, "yellow"),
                                     (259200, "red"))),
    graph("Active collector", "1: active, accepts agents and starts runs; 0: "
          "standby.", [("coalmine_collector_active{%s}", "{{instance}}")]),
    graph("Agents", "Number of agents by state; the node of a lost agent is "
          "not measured.",
          [("sum by (state) (coalmine_agents{%s})", "{{state}}")]),
    graph("Nodes by verdict", "unknown: no data; such a node is not known to "
          "be good.",
          [("sum by (verdict) (coalmine_nodes{%s})", "{{verdict}}")]),
    graph("Scores of the worst nodes", "Robust z of the newest round against "
          "the peers of the node; threshold: the combined z of rounds from "
          "which a node may be an outlier.",
          [("topk(10, coalmine_node_score{%s})", "{{node}}"),
           ("coalmine_outlier_threshold{%s}", "threshold")]),
    graph("Congestion impact at p99", "Of each canary, in the newest run; 1: "
          "no impact.",
          [('max by (test) (coalmine_congestion_impact{%s, of="p99"})',
            "{{test}}")], "none", log=True),
    graph("Error budget left", "Of each objective: 1: nothing is spent; below "
          "0: more node-hours were bad than the objective permits. The "
          "bandwidth is compared with peers, or with the promise.",
          [("coalmine_objective_budget_ratio{%s}",
            "{{objective}}, of the {{of}}")],
          "percentunit"),
    graph("Burn rate", "How fast the error budget is spent; at 1 it lasts for "
          "one window of the objective. Fast and slow: the windows of the "
          "alerts.",
          [('coalmine_objective_burn_rate{%s, window="long", '
            'alert=~"fast|slow"}',
            "{{objective}}, of the {{of}}, {{alert}}")], "none"),
    rows("Outliers by name", "what: node, rail, leaf, link, host, drift, "
         "prediction or undetermined; bad: confirmed by a confirmation run.",
         [("coalmine_node_verdict{%s}", ""),
          ("coalmine_leaf_verdict{%s}", "")],
         defaults={"links": [{
             "title": "This node", "targetBlank": False,
             "url": "/d/coalmine-node?${datasource:queryparam}&"
                    "${job:queryparam}&var-node=${__data.fields.node}"}]}),
    graph("Runs that ended per hour", "By state.",
          [("sum by (state) (increase(coalmine_runs_total{%s}[1h]))",
            "{{state}}")]),
    graph("The collector", "Processor cores that the collector uses, and "
          "rows that wait for its store.", [
              ("rate(process_cpu_seconds_total{%s}[$__rate_interval])",
               "cores"),
              ("coalmine_db_queue_rows{%s}", "rows that wait")]),
])

CONGESTION = dashboard(
    "congestion", "congestion", "How much congestion slows canaries, over "
    "time.", [
        graph("Impact at p99 with its interval", "Congested over isolated; "
              "1: no impact. From and to: the 95 % confidence interval.", [
                  ('coalmine_congestion_impact{%s, of="p99", '
                   'test=~"$test"}', "{{test}}"),
                  ('coalmine_congestion_impact_low{%s, of="p99", '
                   'test=~"$test"}', "{{test}} from"),
                  ('coalmine_congestion_impact_high{%s, of="p99", '
                   'test=~"$test"}', "{{test}} to")], "none", log=True),
        graph("Impact on the mean", "Congested over isolated, of the mean, "
              "as in the first column of GPCNeT; 1: no impact.", [
            ('coalmine_congestion_impact{%s, of="mean", test=~"$test"}',
             "{{test}}")], "none", log=True),
        graph("Latency at p99", "Isolated against congested.", [
            ('coalmine_canary_latency_seconds{%s, quantile="0.99", '
             'test=~"$test"}', "{{test}}, {{phase}}")], "s", log=True),
        graph("Median latency", "Isolated against congested.", [
            ('coalmine_canary_latency_seconds{%s, quantile="0.5", '
             'test=~"$test"}', "{{test}}, {{phase}}")], "s", log=True),
        graph("Median bandwidth", "Isolated against congested.", [
            ('coalmine_canary_bandwidth_bytes_per_second{%s, '
             'quantile="0.5", test=~"$test"}', "{{test}}, {{phase}}")],
            "binBps"),
        graph("Failed tests", "Canary tests that failed, per hour.", [
            ("sum by (test, phase) (increase("
             "coalmine_canary_test_failures_total{%s}[1h]))",
             "{{test}}, {{phase}}")]),
        *[panel("heatmap", "Latencies, " + phase, "All canaries of the "
                "chosen tests, merged.", [
                    ("sum by (le) (increase("
                     "coalmine_canary_latency_distribution_seconds_bucket"
                     '{%s, phase="' + phase + '", test=~"$test"}'
                     "[$__rate_interval]))", "{{le}}")], "s", options={
                         "calculate": False, "cellGap": 1,
                         "color": {"mode": "scheme", "scheme": "Oranges",
                                   "steps": 64},
                         "yAxis": {"unit": "s"}})
          for phase in ("isolated", "congested")],
    ], variable("test", "Test",
                'label_values(coalmine_congestion_impact{%s}, test)'
                .replace("%s", JOB)))

NODE = dashboard("node", "node", "One node against its peers.", [
    stat("Outlier", "1: the node is an outlier. Empty: it is not.",
         [('max(coalmine_node_verdict{%s, node=~"$node"})', "")],
         colours=GOOD_BAD),
    stat("Score", "Robust z of the newest round of the node, worst test. The "
         "verdict, not this value, decides whether the node is an outlier.",
         [('max(coalmine_node_score{%s, node=~"$node"})', "")], "none",
         steps((None, "blue"))),
    stat("Agent", "1: the agent is connected.",
         [('min(coalmine_agent_up{%s, node=~"$node"})', "")],
         colours=steps((None, "red"), (1, "green"))),
    stat("Last contact", "Time since the last contact with the agent.",
         [("max(time() - coalmine_agent_last_seen_timestamp_seconds"
           '{%s, node=~"$node"})', "")], "s"),
    graph("Score", "Robust z of the node against its peers; above 0 is worse.",
          [('coalmine_node_score{%s, node=~"$node"}', "{{node}}"),
           ("quantile(0.5, coalmine_node_score{%s})", "median of all"),
           ("coalmine_outlier_threshold{%s}", "threshold")],
          width=WIDE),
    graph("Agent", "1 while the agent is connected, 0 when it is lost.",
          [('coalmine_agent_up{%s, node=~"$node"}', "{{node}}")]),
    graph("Spool", "Bytes of records on the node that the collector has not "
          "committed yet.",
          [('coalmine_agent_spool_bytes{%s, node=~"$node"}', "{{node}}")],
          "bytes"),
    graph("Rails", "Bandwidth of the rail, as share of a normal rail.",
          [('coalmine_rail_bandwidth_ratio{%s, node=~"$node"}',
            "{{node}} rail {{rail}}")], "percentunit"),
    graph("Copies within", "Share of the memory's bandwidth.",
          [('coalmine_self_bandwidth_ratio{%s, node=~"$node"}',
            "{{node}}")], "percentunit"),
], variable("node", "Node", "label_values(coalmine_agent_up{%s}, node)"
            .replace("%s", JOB)))

STRIPING = dashboard(
    "striping", "striping and rails",
    "Do nodes deliver the bandwidth of their hardware?", [
        graph("Striping efficiency", "Bandwidth of a message over all "
              "devices and rails, divided by the number of rails and by the "
              "bandwidth of one alone.",
              [("coalmine_stripe_efficiency_ratio{%s}",
                "{{via}} {{g}}")], "percentunit"),
        graph("Group bandwidth", "By pattern, direction and k.",
              [("coalmine_group_bandwidth_bytes_per_second{%s}",
                "{{pattern}} {{direction}} k={{k}}")], "binBps"),
        graph("Worst rails", "Bandwidth of the rail, as share of a normal "
              "rail.",
              [("bottomk(10, coalmine_rail_bandwidth_ratio{%s})",
                "{{node}} rail {{rail}}")], "percentunit"),
        graph("Worst copies within a node", "Share of the memory's "
              "bandwidth.",
              [("bottomk(10, coalmine_self_bandwidth_ratio{%s})",
                "{{node}}")], "percentunit"),
        rows("Rails below 90 %", "By node and rail.",
             [("coalmine_rail_bandwidth_ratio{%s} < 0.9", "")],
             "percentunit", width=WIDE),
    ])

COLLECTIVES = dashboard(
    "collectives", "collectives",
    "Throughput of collectives, compared with the collectives of the "
    "installed MPI and with the bound of the network.", [
        graph("Throughput, composed", "Bytes of a block for every rank by "
              "time; the largest size of the newest run.",
              [("coalmine_collective_throughput_bytes_per_second"
                '{%s, impl="coalmine"}', "{{collective}}")], "binBps"),
        graph("Throughput of the baseline", "Collective of the installed "
              "MPI, in host memory.",
              [("coalmine_collective_throughput_bytes_per_second"
                '{%s, impl!="coalmine"}', "{{collective}} {{impl}}")],
              "binBps"),
        graph("Share of the bound", "The bound is what two nodes exchanged "
              "in the same run, by HiCCL's table.",
              [("coalmine_collective_bound_ratio{%s}",
                "{{collective}} {{impl}}")], "percentunit"),
        graph("Speed-up over the baseline", "Above 1: the composed "
              "collective is faster.",
              [("coalmine_collective_throughput_bytes_per_second"
                '{%s, impl="coalmine"} / on (job, instance, collective) '
                "group_right () "
                "coalmine_collective_throughput_bytes_per_second"
                '{%s, impl!="coalmine"}', "{{collective}} {{impl}}")],
              "none"),
    ])

CAMPAIGN = dashboard("campaign", "campaigns", "Runs that took place, and "
                     "starts that are due.", [
    graph("Since the last success", "By campaign.",
          [("time() - coalmine_campaign_last_success_timestamp_seconds"
            '{%s, campaign=~"$campaign"}', "{{campaign}}")], "s"),
    graph("Until the next start", "Below 0: the start is overdue.",
          [("coalmine_campaign_next_start_timestamp_seconds"
            '{%s, campaign=~"$campaign"} - time()', "{{campaign}}")], "s"),
    graph("Runs that ended per day", "By state.",
          [("sum by (campaign, state) (increase(coalmine_runs_total"
            '{%s, campaign=~"$campaign"}[1d]))',
            "{{campaign}} {{state}}")]),
    graph("Runs now", "By state.",
          [("sum by (state) (coalmine_runs{%s})", "{{state}}")]),
    rows("Schedules", "1: the schedule of the campaign is enabled.",
         [("coalmine_campaign_schedule_enabled"
           '{%s, campaign=~"$campaign"}', "")], width=WIDE),
], variable("campaign", "Campaign",
            "label_values(coalmine_runs_total{%s}, campaign)"
            .replace("%s", JOB)))




def links(kinds):
    """The dashboard of ports and GPUs: a row of two panels a kind."""
    return dashboard(
        "links", "links and GPUs",
        "Errors that ports and GPUs count, by class of node, and the worst "
        "ports and GPUs by name.", [
            stat("Ports and GPUs watched", "Ports and GPUs whose agents "
                 "report error counters.",
                 [("sum(coalmine_link_ports{%s})", "")]),
            stat("Named", "Nodes with a port or GPU that counts more errors "
                 "than chance explains.",
                 [('coalmine_outliers{%s, what="link-errors"}', "")],
                 colours=GOOD_BAD),
            rows("The worst now", "Errors of the last hour, five of each "
                 "kind.", [("sort_desc(coalmine_link_worst_errors_per_hour"
                            "{%s})", "")], width=WIDE),
            *[p for kind, about in kinds for p in (
                graph(kind.capitalize() + " per hour",
                      about[0].upper() + about[1:] + ".",
                      [("sum by (class) (rate(coalmine_link_errors_total"
                        '{%s, kind="' + kind + '"}[1h])) * 3600',
                        "{{class}}")]),
                graph(kind.capitalize() + ", share of ports", "With new "
                      "errors in the last hour.",
                      [("sum by (class) (coalmine_link_ports_with_errors"
                        '{%s, kind="' + kind + '"}) / sum by (class) '
                        "(coalmine_link_ports{%s})", "{{class}}")],
                      "percentunit"))]])


UNITS = {"seconds": "s", "second": "binBps"}


def fill(board, families):
    """Panels of the families of a board that it does not show yet."""
    shown = json.dumps(board)
    for family, kind, name, labels, about in families:
        if "coalmine-" + name != board["uid"] or family + "{" in shown or \
                kind == "histogram":
            continue
        title = family.removeprefix("coalmine_").replace("_", " ")
        expr = family + "{%s}" if kind != "counter" else \
            "increase(" + family + "{%s}[1h])"
        board["panels"].append(graph(
            title[0].upper() + title[1:], about, [(expr, " ".join(
                "{{" + label + "}}" for label in labels.split(",")))],
            UNITS.get(family.rsplit("_", 1)[-1], "none")))
    place(board["panels"])


def main():
    rows = subprocess.run([sys.argv[2], "series"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.splitlines()
    families = [row.split("\t") for row in rows]
    kinds = subprocess.run([sys.argv[2], "links"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    for board in (OVERVIEW, CONGESTION, NODE, STRIPING, COLLECTIVES, CAMPAIGN,
                  links([kind.split("|") for kind in kinds])):
        fill(board, families)
        path = os.path.join(sys.argv[1], board["uid"] + ".json")
        with open(path, "w", encoding="utf-8") as to:
            json.dump(board, to, indent=1, ensure_ascii=False)
            to.write("\n")


main()
