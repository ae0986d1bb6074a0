"""What each thread's time was on each call path, from the saved profile alone.

Written a second time, and simply, to hold the page to it: nothing here is shared with
the analyses. It knows no teams that were measured as a whole.
"""

import collections

PARALLEL = {"parallel", "parallel_loop", "parallel_sections", "parallel_workshare"}
EXECUTIONS = {"task_exec", "untied_task_exec"}


def span(row, part):
    return row.get(part, {}).get("ns", 0)


def count(row, part):
    return row.get(part, {}).get("count", 0)


def occupied(kind, row):
    """How long a visit keeps a thread from what is around it."""
    if kind == "lock":
        return span(row, "enter") + span(row, "exit")
    return span(row, "seq") if kind in PARALLEL else span(row, "main")


def wait_of_updates(profile, region, row):
    """How long a thread waited in its atomic updates; the rest of their time is their expressions' work."""
    updates = count(row, "main")
    if any(
        node["parent"] is not None and profile["nodes"][node["parent"]]["region"] == region
        for node in profile["nodes"]
    ):
        return 0
    threads = profile["threads"]
    rank = threads[row["thread"]].get("rank")
    most = 500 * sum(thread.get("rank") == rank for thread in threads)
    shortest = [
        of["min_ns"]
        for of in profile.get("distributions", [])
        if of["region"] == region and of.get("thread") == row["thread"] and of["min_ns"] >= 200
    ]
    return min(max(span(row, "main") - updates * max(shortest, default=0), 0), updates * most)


def parts(region, row, own, children, costs_ps, in_team, shared, wait_in_updates):
    """One row's own time by what it was."""
    kind = region["kind"]
    result = collections.Counter()
    rest = own

    def take(part, ns):
        nonlocal rest
        ns = min(ns, rest)
        rest -= ns
        result[part] += ns

    unsplit = region.get("unsplit") is not None
    tasks = sum(
        occupied(child_kind, below)
        for child_kind, within, below in children
        if kind == "barrier"
        or within == "ibarr"
        or (unsplit and within == "main" and child_kind in EXECUTIONS and kind in {"single", "scope", "sections"})
    )
    sections = sum(span(below, "main") for child_kind, _, below in children if child_kind == "section")
    wait = span(row, "ibarr")
    if unsplit and kind in {"single", "scope"}:
        wait = span(row, "main") - span(row, "body")
    elif unsplit and kind == "sections":
        wait = span(row, "main") - sections
    wait = max(wait - tasks, 0)
    if unsplit and kind in {"loop", "workshare", "generic_loop"} and shared and in_team:
        take("untold", own)
    if kind in PARALLEL:
        take("imbalance" if kind != "parallel_sections" else "by_sections", wait)
        take("start", span(row, "enter"))
        take("end", span(row, "exit"))
    elif kind in {"loop", "workshare", "scope"}:
        take("imbalance", wait)
    elif kind == "single":
        take("little_work", wait)
    elif kind == "sections":
        take("by_sections", wait)
        whole_wait = wait + tasks
        take("other", max(span(row, "main") - sections - whole_wait, 0))
    elif kind == "atomic":
        take("atomic", wait_in_updates)
    elif kind == "flush":
        take("atomic", own)
    elif kind == "barrier":
        take("barrier", max(span(row, "main") - tasks, 0))
    elif kind in {"critical", "lock", "ordered"}:
        take(kind, span(row, "enter"))
        take("other", span(row, "exit"))
    elif kind == "taskgroup":
        take("taskgroup", wait)
    elif kind in {"task", "untied_task"}:
        take("creation", own)
    elif kind == "taskwait":
        take("taskwait", own)
    pairs = (0 if kind in PARALLEL else count(row, "main")) + count(row, "body") + count(row, "ibarr") + count(row, "seq")
    timed = pairs
    if "estimate" in row:
        timed = min(pairs * row["estimate"]["timed"] // max(count(row, "main"), 1), pairs)
    take("measuring", (timed * costs_ps[0] + (pairs - timed) * costs_ps[1]) // 1000)
    take("work" if in_team else "serial", rest)
    return result


def own_counters(profile, row, inside):
    """What was counted in a visit, without what was called."""
    own = list(row.get("counters", []))
    for _, _, below in inside:
        for at, number in enumerate(below.get("counters", [])):
            own[at] = max(own[at] - number, 0)
    return {f"counter-{name}": number for name, number in zip(profile["run"].get("counters", []), own)}


def severities(profile):
    """(chain of regions, thread) -> what the time was; regions and threads by number."""
    nodes, regions = profile["nodes"], profile["regions"]
    chains, scopes, beside = [], [], []
    children = collections.defaultdict(list)
    for index, node in enumerate(nodes):
        parent = node["parent"]
        chains.append((chains[parent] if parent is not None else ()) + (node["region"],))
        if parent is None:
            scopes.append(False)
            beside.append(False)
            continue
        children[parent].append(index)
        is_team = regions[nodes[parent]["region"]]["kind"] in PARALLEL
        is_fork = is_team and node["within"] == "seq"
        scopes.append(scopes[parent] if not is_team or is_fork else True)
        beside.append(is_fork or (beside[parent] and not is_team))
    result = collections.defaultdict(collections.Counter)
    for index, node in enumerate(nodes):
        region = regions[node["region"]]
        kind = region["kind"]
        if beside[index] and kind not in PARALLEL:
            continue
        below = collections.defaultdict(list)
        for child in children[index]:
            for row in nodes[child]["rows"]:
                below[row["thread"]].append((regions[nodes[child]["region"]]["kind"], nodes[child]["within"], row))
        executors = [row for row in node["rows"] if kind not in PARALLEL or "main" in row]
        cells = {}
        for row in executors:
            inside = below[row["thread"]]
            busy = span(row, "main") if kind in PARALLEL else occupied(kind, row)
            own = max(busy - sum(occupied(of, one) for of, _, one in inside), 0)
            in_team = kind in PARALLEL or scopes[index]
            costs = [profile["run"].get(of, 0) for of in ("pair_cost_ps", "passed_pair_cost_ps")]
            wait = wait_of_updates(profile, node["region"], row) if kind == "atomic" else 0
            cells[row["thread"]] = parts(region, row, own, inside, costs, in_team, len(node["rows"]) > 1, wait)
            cells[row["thread"]]["executions"] = count(row, "main")
            cells[row["thread"]].update(own_counters(profile, row, inside))
        executed = sum(count(one, "main") for inside in below.values() for of, _, one in inside if of == "section")
        few = executed < sum(count(row, "main") for row in executors)
        for thread, cell in cells.items():
            cell["little_work" if few else "imbalance"] += cell.pop("by_sections", 0)
            result[chains[index], thread].update(cell)
    return result
