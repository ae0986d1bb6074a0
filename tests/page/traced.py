"""Checks of the page of a program with its trace, see check.py."""

import collections
import json

from browser import address, choose, chromium, go, json_of, model_of, open_all, rows, section, shown, spoken


def timeline(folder):
    """Lanes hold what the profile holds; keys and links show a span."""
    profile = json_of(folder, "profile")
    with chromium() as browser:
        with shown(browser, f"{folder}/page.html", "#v=timeline") as page:
            page.wait_for_selector("table.data")
            lanes = lanes_of(page)
            for thread, sums in lanes.items():
                assert sum(sums) == profile_duration(page), (thread, sums)
            members_are_those_of(profile, lanes)
            page.locator(".lanes").focus()
            for key in ["+", "+", "ArrowRight", "-"]:
                page.keyboard.press(key)
            assert "t0=" in address(page) and "t1=" in address(page), address(page)
            link, seen = address(page).split("#")[1], page.locator("#app").inner_text()
            box = page.locator(".lanes").bounding_box()
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 8)
            assert "ns" in page.locator(".said[role=status]").first.inner_text()
            team = page.locator(".lane-names button[aria-expanded]").first
            team.focus()
            for is_open in ["false", "true", "false"]:
                page.keyboard.press("Enter")
                assert team.get_attribute("aria-expanded") == is_open
                assert page.evaluate("document.activeElement.textContent") == team.inner_text()
            spoken(page)
        with shown(browser, f"{folder}/page.html", "#" + link) as page:
            page.wait_for_selector("table.data")
            assert page.locator("#app").inner_text() == seen


def members_are_those_of(profile, lanes):
    """The lanes of a team's members have the times of these threads in the profile."""
    members = collections.Counter()
    for node in profile["nodes"]:
        if node["parent"] is not None:
            continue
        for row in node["rows"]:
            # A member is in no lane from its end to the join.
            members[row["thread"]] += row.get("main", {}).get("ns", 0) - row.get("exit", {}).get("ns", 0)
    for index, thread in enumerate(profile["threads"]):
        name = "->".join(str(number) for number in thread["path"])
        name = f"r{thread['rank']}:{name}" if "rank" in thread else name
        busy = sum(sum(sums[1:]) for lane, sums in lanes.items() if lane == name or lane.startswith(name + "->"))
        if len(thread["path"]) == 2:
            assert abs(busy - members[index]) <= 2000 + busy / 1000, (name, busy, members[index])


def ranks(folder):
    """The ranks of a job are on one axis of time, and each can be folded."""
    profile = json_of(folder, "profile")
    names = lambda page: page.locator(".lane-names button").all_inner_texts()
    with chromium() as browser:
        with shown(browser, f"{folder}/page.html", "#v=timeline") as page:
            page.wait_for_selector("table.data")
            all_lanes = lanes_of(page)
            members_are_those_of(profile, all_lanes)
            assert {name.split(":")[0] for name in all_lanes} == {"r0", "r1"}, all_lanes
            assert [name for name in names(page) if "rank" in name] == ["▾ rank 0", "▾ rank 1"], names(page)
            first = profile["ranks"][0]["duration_ns"]
            go(page, f"#v=timeline&t0=0&t1={first}")
            early = lanes_of(page)
            assert all((sum(row[1:]) > 0) == name.startswith("r0") for name, row in early.items() if "->" in name), early
            page.locator(".lane-names button", has_text="rank 0").click()
            left = names(page)
            assert left[:2] == ["▸ rank 0", "▾ rank 1"] and all("r1:" in name for name in left[2:]), left
            link = address(page).split("#")[1]
            member = "r1:0->1"
            go(page, f"#v=timeline&ln={member.replace('>', '%3E')}")
            lists_of_the_span(page, lanes_of(page)[member])
        with shown(browser, f"{folder}/page.html", "#" + link) as page:
            page.wait_for_selector("table.data")
            assert names(page) == left


def large_trace(folder):
    """Of a trace with too many slices there are bins, also where a small part is in sight."""
    profile = json_of(folder, "app.1.romp")
    with chromium() as browser, shown(browser, f"{folder}/page.html", "#v=timeline") as page:
        paints = page.evaluate("performance.getEntriesByType('paint').map(one => [one.name, one.startTime])")
        page.wait_for_selector("table.data")
        members_are_those_of(profile, lanes_of(page))
        said = page.locator(".said[role=status]").first.inner_text().split()
        bins = int("".join(said[said.index("there") + 2 : said.index("bins")]))
        assert bins > 16000, said
        print(f"paint {paints}, {bins} bins")
        end = profile_duration(page)
        spans = []
        for part in range(10):
            # A bin is less than a hundredth of this span.
            begin = end // 3 + part * end // 100
            go(page, f"#v=timeline&t0={begin}&t1={begin + end // 100}")
            spans.append(sum(sum(row[1:]) for row in lanes_of(page).values()))
        assert all(0 < busy <= 2 * (end // 100) + 4 for busy in spans), spans


def changed(folder):
    """A file is said to have changed if its text is another one, whenever it was written."""
    with chromium() as browser:
        for name, begin in [("changed", "The file was changed after the program was built"), ("same", "")]:
            with shown(browser, f"{folder}/{name}.html", "#v=source") as page:
                page.wait_for_selector(".source .line")
                note = page.locator("#app .note").inner_text()
                assert note.startswith(begin) and (note == "") == (begin == ""), (name, note)
                # The first screen has lines of the file, too.
                assert page.locator("#view-overview .excerpt .here").count() > 0
                notes = page.locator("#view-overview .excerpt + .note").all_inner_texts()
                assert all(one.startswith(begin) for one in notes)
                assert (notes == []) == (begin == ""), (name, notes)


def handovers(folder):
    """Who waited for a lock or a critical gets it after it was given back, by another thread."""
    with chromium() as browser, shown(browser, f"{folder}/page.html", "#v=timeline") as page:
        page.wait_for_selector("table.data")
        told = page.eval_on_selector_all(
            "table.data", "tables => tables.filter(one => one.caption.textContent.includes('hand-over')).flatMap(one => [...one.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.querySelector('.num')?.dataset.value ?? cell.textContent)))"
        )
        assert {row[0].split()[0] for row in told} == {"critical", "lock"}, told
        for what, giver, getter, given, got, waited in told:
            assert giver != getter and int(given) <= int(got) and int(waited) > 0, (what, giver, getter)
            assert int(got) - int(waited) <= int(given), "it was asked for before it was given back"
        waiting = [row[2] for row in lanes_of(page).values()]
        assert max(waiting) >= max(int(row[-1]) for row in told), "a wait for a lock is no work"


def selection(folder):
    """A span and a thread that are selected in the timeline are all that the other views tell of."""
    model = model_of(folder)
    with chromium() as browser:
        with shown(browser, f"{folder}/page.html", "#v=timeline") as page:
            page.wait_for_selector("table.data")
            end = profile_duration(page)
            assert not page.locator(".selected").is_visible()
            page.locator(".lane-names .lane").last.click()
            assert len(lanes_of(page)) == 1
            thread = next(iter(lanes_of(page)))
            go(page, f"#v=timeline&t0={end // 4}&t1={end // 2}&ln={thread.replace('>', '%3E')}")
            lane = lanes_of(page)[thread]
            assert abs(sum(lane) - (end // 2 - end // 4)) <= len(lane)
            follow(page, "overview")
            page.wait_for_selector(".selected table.data")
            told = told_in(page, ".selected")
            for kind in range(1, len(lane)):
                assert abs(sum(row[kind] for row in told) - lane[kind]) <= len(told) + 1, (kind, told, lane)
            trees_of_the_span(page, lane, f"t{thread}")
            lists_of_the_span(page, lane)
            what_is_not_filtered(page, model, end)
            page.keyboard.press("Escape")
            assert not page.locator(".selected").is_visible() and "t1=" not in address(page)
            page.keyboard.press("Escape")
            assert "v=overview" in address(page), address(page)
            follow(page, "explorer")
            open_all(page, "Metrics")
            assert sum(rows(page, "Metrics")[metric["id"]] for metric in model["metrics"] if metric["unit"] == "ns" and metric["id"] in rows(page, "Metrics")) == model["thread_time_ns"]
        with shown(browser, f"{folder}/page.html", f"#v=explorer&t0=0&t1={end}") as page:
            open_all(page, "Metrics")
            told = rows(page, "Metrics")
            times = [metric["id"] for metric in model["metrics"] if metric["unit"] == "ns"]
            whole = end * model["threads_at_once"]
            assert abs(sum(told.get(name, 0) for name in times) - whole) <= len(times), told
            page.locator(".selected button").click()
            open_all(page, "Metrics")
            of_run = rows(page, "Metrics")
            # If the whole trace is selected, its parts are those of the run. Only the run tells the
            # ways in which threads are without work apart.
            ends = ["start", "end", "idle", "small_teams"]
            parts = [[name] for name in times if name not in [*ends, "measuring"]] + [ends]
            for part in parts:
                span, run = [sum(of.get(name, 0) for name in part) for of in (told, of_run)]
                assert abs(span - run) <= whole / 100 + 200_000, (part, told, of_run)


def what_is_not_filtered(page, model, end):
    """A view says that it is filtered, and what of it is not."""
    region = next(one["region"] for one in model["instances"])
    for fragment, about in [
        ("v=overview", "Not filtered: the rest of this view is about the whole run"),
        ("v=explorer", "This view shows that span alone"),
        (f"v=region&r={region}", "This view shows that span alone"),
        ("v=source", "This view shows that span alone"),
        ("v=threads", "This view shows that span alone"),
    ]:
        go(page, f"#{fragment}&t0=0&t1={end // 2}")
        page.wait_for_function("about => document.querySelector('.selected').innerText.includes(about)", arg=about)
        if "r=" in fragment:
            note = page.locator("#app .note", has_text="Not filtered, and therefore left out").inner_text()
            assert "times of instances" in note, note
            assert page.locator("h2", has_text="Times of instances").count() == 0


def follow(page, view):
    page.evaluate("view => document.querySelector(`nav a[data-view=${view}]`).click()", view)
    page.wait_for_function("view => view === 'overview' || document.querySelector('#app .view') !== null", arg=view)


def trees_of_the_span(page, lane, node):
    """The trees have the time of the thread in the span, by what it was, and nothing else."""
    follow(page, "explorer")
    page.wait_for_selector(".tree")
    for tree in ["Metrics", "Calls", "Threads"]:
        open_all(page, tree)
    told = rows(page, "Metrics")
    _, work, waiting, managing, tasks = lane
    assert abs(told["work"] - work - tasks) <= 1, (told, lane)
    assert abs(sum(told.values()) - work - waiting - managing - tasks) <= len(told), (told, lane)
    for metric in [name for name, value in told.items() if value > 0]:
        choose(page, "Metrics", metric)
        assert abs(sum(rows(page, "Calls").values()) - told[metric]) <= 1, metric
        choose(page, "Calls", "program")
        page.locator('.tree[aria-label="Calls"] .row[data-node="program"] .toggle').click()
        threads = rows(page, "Threads")
        assert threads == {name: told[metric] if name == node else 0 for name in threads}, (metric, threads)
        page.locator('.tree[aria-label="Calls"] .row[data-node="program"] .toggle').click()


def lists_of_the_span(page, lane):
    """Regions, source and threads have the same times."""
    follow(page, "region")
    own = {row[0]: row[1] for row in told_in(page, "#app")}
    assert abs(sum(own.values()) - sum(lane[1:])) <= len(own), (own, lane)
    assert all(own.values()), own
    name = max(own, key=own.get)
    text = page.locator("#app table.data tbody tr", has_text=name).first.locator(".num").first.inner_text()
    page.locator("#app table.data a", has_text=name).first.click()
    members = page.locator("#app table.data", has=page.locator("caption", has_text="each thread did")).locator("tbody tr")
    assert members.count() == 1, members.all_inner_texts()
    follow(page, "source")
    page.wait_for_selector(f".mark:has(.parts[title^='{name}'])")
    assert page.locator(f".mark:has(.parts[title^='{name}'])").inner_text().strip() == text
    follow(page, "threads")
    page.locator("#app details.more summary").click()
    page.wait_for_selector("details.more table.data")
    matrix = told_in(page, "details.more")
    assert len(matrix) == 1 and abs(sum(matrix[0][1:]) - sum(own.values())) <= 1, (matrix, own)


def waits(folder):
    """Contention, last arrivals and the times of instances are those of the profile."""
    model, profile = model_of(folder), json_of(folder, "profile")
    names, met = model["threads"]["name"], collections.Counter()
    assert names == ["->".join(str(number) for number in thread["path"]) for thread in profile["threads"]]
    with chromium() as browser, shown(browser, f"{folder}/page.html", "#v=region") as page:
        for region in sorted(set(model["paths"]["region"])):
            go(page, f"#v=region&r={region}")
            told = tables_of(page)
            for guard in [one for one in profile["contention"] if any(site["region"] == region for site in one["sites"])]:
                sites = [[site[name] for name in ["acquisitions", "waited", "wait_ns", "max_wait_ns", "hold_ns"]] for site in guard["sites"]]
                assert sites in told["Entries: "], (region, sites, told)
                holders = [[holder["waited"], holder["wait_ns"]] for site in guard["sites"] for holder in site.get("holders", [])]
                assert not holders or holders in told["Holders when"], (region, holders, told)
                met["contention"] += 1
            late = {names[one["thread"]]: [one["last"], one["late_ns"]] for one in profile["arrivals"] if one["region"] == region}
            if late:
                rows_of = page.locator("table.data", has=page.locator("th", has_text="Times last")).locator("tbody tr")
                for row in rows_of.all():
                    values = [int(one.get_attribute("data-value")) for one in row.locator(".num").all()]
                    assert values[:2] == late[row.locator("th").inner_text()], (region, values, late)
                met["arrivals"] += rows_of.count()
            buckets = collections.defaultdict(collections.Counter)
            for one in [one for one in profile["distributions"] if one["region"] == region]:
                for bucket in one["histogram"]:
                    buckets[one["part"]][bucket["from_ns"]] += bucket["count"]
            for part, counts in buckets.items():
                assert [[counts[begin]] for begin in sorted(counts)] in told[""], (region, part, counts, told)
                met["instances"] += 1
    assert all(met[name] > 0 for name in ["contention", "arrivals", "instances"]), met


def tables_of(page):
    """The numbers of each table, by how its caption begins."""
    told = page.eval_on_selector_all(
        "table.data", "tables => tables.map(table => [table.caption.textContent, [...table.tBodies[0].rows].map(row => [...row.querySelectorAll('.num')].map(one => Number(one.dataset.value)))])"
    )
    found = collections.defaultdict(list)
    for caption, numbers in told:
        found[next((name for name in ["Entries: ", "Holders when"] if caption.startswith(name)), "")].append(numbers)
    return found


def hostile_trace(folder):
    """What a file is called is text in the timeline, too."""
    with chromium() as browser, shown(browser, f"{folder}/page.html", "#v=timeline") as page:
        page.wait_for_selector("table.data")
        assert "<img src=x onerror=window.harmed=1>" in page.locator("#app").inner_text()
        box = page.locator(".lanes").bounding_box()
        for part in range(1, 10):
            page.mouse.move(box["x"] + box["width"] * part / 10, box["y"] + box["height"] - 8)
        for view in ["overview", "explorer", "region", "source", "threads"]:
            go(page, f"#v={view}&t0=0&t1=1000000000000")
            page.wait_for_selector(".selected p")
            assert page.evaluate("window.harmed") is None and page.locator("img").count() == 0, view


def dependences(folder):
    """On what the tasks of a construct depend is named where the timeline tells of it."""
    with chromium() as browser, shown(browser, f"{folder}/page.html", "#v=timeline") as page:
        page.wait_for_selector("table.data")
        told = page.locator("table.data", has=page.locator("caption", has_text="Regions")).locator("tbody tr th").all_inner_texts()
        for items in ["inout:diagonal[0]", "in:diagonal[0], inout:right[0]", "in:left[0], in:above[0], inout:inner[0]"]:
            assert any(text.startswith("TASK ") and text.endswith(f"depends on {items}") for text in told), (items, told)


def arrows(folder):
    """Each task has an arrow, here from the second thread to the first."""
    with open(f"{folder}/page.html", encoding="utf-8") as file:
        facts = facts_of(file.read())
    told = [(facts["lanes"][start], facts["lanes"][end], to >= at) for start, at, end, to in facts["arrows"]]
    assert told == [("0->1", "0->0", True)] * 5, told
    with chromium() as browser, shown(browser, f"{folder}/page.html", "#v=timeline") as page:
        page.wait_for_selector("table.data")
        assert "Arrows of tasks are left out" not in page.locator(".said[role=status]").first.inner_text()


def told_in(page, place):
    return page.eval_on_selector_all(
        f"{place} table.data tbody tr", "rows => rows.map(row => [row.cells[0].textContent, ...[...row.querySelectorAll('.num')].map(one => Number(one.dataset.value))])"
    )


def iterations(folder):
    """The map of a loop's iterations says what `romp trace loops --table` says."""
    maps_are_those_of(folder, {"What iterations cost": "loops"})


def iterations_of_ranks(folder):
    """Each rank has a map of its own, of the iterations that it executed."""
    maps_are_those_of(folder, {f"What iterations cost in rank {rank}": f"loops.r{rank}" for rank in [0, 1]})


def maps_are_those_of(folder, files):
    """Each map, by its title, says what the file says; no region has any other map."""
    expected = {title: loops_of(f"{folder}/{name}.txt") for title, name in files.items()}
    model, met = model_of(folder), collections.Counter()
    with chromium() as browser, shown(browser, f"{folder}/page.html", "#v=region") as page:
        for region in sorted(set(model["paths"]["region"])):
            go(page, f"#v=region&r={region}")
            titles = [text for text in page.locator("#app h2").all_inner_texts() if text.startswith("What iterations cost")]
            assert sorted(titles) in ([], sorted(files)), titles
            tables = page.locator("table.data", has=page.locator("caption", has_text="Most expensive first"))
            for at, title in enumerate(titles):
                row = tables.nth(at).locator("tbody tr").first
                first = int(row.locator("th").inner_text().split()[1])
                ns = int(row.locator(".num").first.get_attribute("data-value"))
                loops = expected[title].values()
                assert any(abs(ns - max(ns for _, ns in loop.values())) <= 1 and abs(loop[first][1] - ns) <= 1 for loop in loops), (title, first, ns, loops)
                met[title] += 1
    assert met == {title: len(loops) for title, loops in expected.items()}, (met, expected)


def loops_of(file):
    """By loop, by first iteration: how often it was executed, and what it costs in ns."""
    told = collections.defaultdict(dict)
    with open(file, encoding="utf-8") as lines:
        for line in list(lines)[1:]:
            region, first, _, executed, ns = line.rstrip("\n").split("\t")
            told[region][int(first)] = (float(executed), float(ns))
    assert told
    return told


def dependence_arrows(folder):
    """Arrows lead from each task to those that the program says to depend on it."""
    with open(f"{folder}/arrows.txt", encoding="utf-8") as file:
        expected = sorted(tuple(map(int, line.split())) for line in file)
    with open(f"{folder}/page.html", encoding="utf-8") as file:
        facts = facts_of(file.read())
    line_of = lambda region: int(facts["regions"][region][0].split(":")[1].split()[0].split("-")[0])
    told = sorted((line_of(before), line_of(after)) for *_, before, after in facts["dependences"])
    assert told == expected, (told, expected)
    assert all(ended <= began for _, ended, _, began, *_ in facts["dependences"])
    with chromium() as browser, shown(browser, f"{folder}/page.html", "#v=timeline") as page:
        page.wait_for_selector("table.data")
        assert "Dependences of tasks are left out" not in page.locator(".said[role=status]").first.inner_text()
        listed = page.locator("table.data", has=page.locator("caption", has_text="in sight, by the begin"))
        assert listed.locator("tbody tr").count() == len(expected)
        detached = [name for name, *_, is_detached in facts["regions"] if is_detached]
        assert (len(detached) > 0) == ("detached.c" in facts["regions"][0][0] + facts["regions"][-1][0]), detached
        assert page.locator(".said", has_text="its arrow begins where the task's code ended").count() == (len(detached) > 0)
        # They are drawn: nothing else has this colour.
        drawn = page.evaluate("""() => {
            const canvas = document.querySelector('.lanes canvas');
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            let count = 0;
            for (let at = 0; at < data.length; at += 4) count += data[at] === 0x56 && data[at + 1] === 0xb4 && data[at + 2] === 0xe9;
            return count;
        }""")
        assert drawn > 0


def facts_of(text):
    """What the timeline says of itself, in front of its columns."""
    held = section(text, "timeline")
    begin = next(at for at, byte in enumerate(held) if byte < 128) + 1
    length = sum((byte & 127) << (7 * at) for at, byte in enumerate(held[:begin]))
    return json.loads(held[begin : begin + length])


def lanes_of(page):
    told = page.eval_on_selector_all(
        "table.data", "tables => [...tables[0].tBodies[0].rows].map(row => [row.cells[0].textContent, [...row.querySelectorAll('.num')].map(one => Number(one.dataset.value))])"
    )
    return dict(told)


def profile_duration(page):
    words = page.locator(".said[role=status]").first.inner_text().split(" to ")[1]
    return int(words.split()[0])


CHECKS = [timeline, ranks, large_trace, changed, handovers, selection, iterations, waits, hostile_trace, dependences, arrows, iterations_of_ranks, dependence_arrows]
