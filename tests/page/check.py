"""Checks of the page in a browser: check.py NAME FOLDER.

The folder has page.html, and profile.json and analysis.json to hold it to.
"""

import collections
import os
import sys
import time

from browser import choose, chromium, go, json_of, model_of, open_all, rows, shown
from sums import severities

VIEWS = ["overview", "explorer", "region", "source", "threads"]


def chains_of(model):
    """What each call path is in links, and its regions."""
    chains = {"program": ()}
    for path, (region, caller) in enumerate(zip(model["paths"]["region"], model["paths"]["caller"])):
        above = chains["program" if caller is None else f"p{caller}"]
        chains[f"p{path}"] = above + (region,)
    return chains


def trees(folder):
    """Each metric over call paths and threads, open and folded, is the sum of the profile's rows."""
    model, profile, analysis = model_of(folder), json_of(folder, "profile"), json_of(folder, "analysis")
    expected = severities(profile)
    chains = chains_of(model)
    with chromium() as browser, shown(browser, f"{folder}/page.html", "#v=explorer") as page:
        for tree in ["Metrics", "Calls", "Threads"]:
            open_all(page, tree)
        metrics = rows(page, "Metrics")
        for name, part in analysis["parts"].items():
            assert metrics.get(name, 0) == part["ns"], (name, metrics)
        checked = 0
        for metric in [name for name in metrics if name in analysis["parts"] or name == "executions"]:
            by_chain, by_thread = collections.Counter(), collections.Counter()
            for (chain, thread), cell in expected.items():
                by_chain[chain] += cell[metric]
                by_thread[thread] += cell[metric]
            choose(page, "Metrics", metric)
            calls = rows(page, "Calls")
            own = collections.Counter()
            for node, value in calls.items():
                own[chains[node]] += value
            program = own.pop((), 0)
            assert +own == +by_chain, (metric, own, by_chain)
            assert program + sum(own.values()) == metrics[metric], metric
            # Folded, the program holds all, and threads are told of all.
            choose(page, "Calls", "program")
            page.locator('.tree[aria-label="Calls"] .row[data-node="program"] .toggle').click()
            assert rows(page, "Calls")["program"] == metrics[metric], metric
            threads = rows(page, "Threads")
            for thread, name in enumerate(model["threads"]["name"]):
                of_program = program if metric == "serial" and threads["untold"] == 0 and "->" not in name else 0
                assert threads[f"t{name}"] - of_program == by_thread[thread], (metric, name)
                checked += 1
            page.locator('.tree[aria-label="Calls"] .row[data-node="program"] .toggle').click()
        assert checked > 0
        folded(page, chains)
        flat(page, model)


def folded(page, chains):
    """A folded node is the sum of what was below it."""
    values = rows(page, "Calls")
    callers = {}
    for node in values:
        fits = [other for other in values if other != node and chains[node][: len(chains[other])] == chains[other]]
        callers[node] = max(fits, key=lambda other: len(chains[other]), default=None)
    unique = collections.Counter(chains[node] for node in values)
    for node in [one for one in set(callers.values()) if one and unique[chains[one]] == 1]:
        toggle = page.locator(f'.tree[aria-label="Calls"] .row[data-node="{node}"] .toggle')
        toggle.click()
        length = len(chains[node])
        below = sum(value for other, value in values.items() if chains[other][:length] == chains[node])
        assert rows(page, "Calls")[node] == below, (node, below)
        toggle.click()


def flat(page, model):
    """By region and by kind there is as much as by call path."""
    total = sum(rows(page, "Calls").values())
    for by in ["region", "kind"]:
        page.locator("select[name=by]").select_option(by)
        open_all(page, "Calls")
        assert sum(rows(page, "Calls").values()) == total, by
    page.locator("select[name=by]").select_option("path")
    for numbers in ["root", "selection", "peers", "abs"]:
        page.locator("select[name=n]").select_option(numbers)
        text = page.locator('.tree[aria-label="Calls"] .row .num').first.inner_text()
        assert text.endswith("%") == (numbers != "abs") or text == "-", (numbers, text)


def numbers(folder):
    """The first screen and the regions say what the analyses say."""
    model, analysis = model_of(folder), json_of(folder, "analysis")
    with chromium() as browser:
        with shown(browser, f"{folder}/page.html", ready=False, java_script_enabled=False) as page:
            first_screen(page, model, analysis)
        with shown(browser, f"{folder}/page.html") as page:
            for row in analysis["decomposition"]:
                region_page(page, model, row)


def first_screen(page, model, analysis):
    assert page.locator(".verdict").inner_text().strip()
    groups = collections.Counter()
    for metric in model["metrics"]:
        if metric["unit"] == "ns":
            groups[metric["group"]] += analysis["parts"][metric["id"]]["ns"]
    shown_groups = page.eval_on_selector_all(
        "tr[data-group]", "rows => rows.map(row => [row.dataset.group, Number(row.querySelector('[data-ns]').dataset.ns)])"
    )
    assert dict(shown_groups) == dict(+groups), (shown_groups, groups)
    assert sum(groups.values()) == analysis["thread_time_ns"]
    widths = page.eval_on_selector_all(".bar i", "parts => parts.map(part => parseFloat(part.style.width))")
    assert abs(sum(widths) - 100) < 0.1, widths
    gains = page.eval_on_selector_all(".gain", "all => all.map(one => Number(one.dataset.ns))")
    causes = analysis["causes"][:5]
    assert gains == [cause["win"]["likely"]["ns"] for cause in causes], (gains, causes)


def region_page(page, model, row):
    """POMPROF's detail view."""
    go(page, f"#v=region&r={row['region']}")
    titles = page.eval_on_selector_all(
        "table.data", "tables => tables.map(table => [table.caption.textContent, [...table.tHead.rows[0].cells].map(cell => cell.textContent)])"
    )
    index, (_, head) = next((at, one) for at, one in enumerate(titles) if one[0] == "What each thread did in it")
    cells = page.eval_on_selector_all(
        "table.data",
        "(tables, index) => [...tables[index].tBodies[0].rows].map(row => [...row.cells].map(cell => cell.querySelector('.num') ? Number(cell.querySelector('.num').dataset.value) : cell.textContent))",
        index,
    )
    names = {"Time": "time_ns", "Executions": "count", "before": "before_ns", "work": "work_ns", "waits inside": "waits_ns", "wait at the end": "barrier_ns", "after": "after_ns"}
    told = {model["threads"]["name"][thread["thread"]]: thread for thread in row["threads"]}
    for line in cells:
        thread = told[line[0]]
        for title, value in zip(head, line):
            if title not in names or thread.get(names[title]) is None:
                continue
            # What is not known is told apart here, and work there.
            untold = line[head.index("not known")] if title == "work" and "not known" in head else 0
            assert value + untold == thread[names[title]], (row["region"], line, title, thread)


def keyboard(folder):
    """Everything without a mouse, with the focus in sight."""
    with chromium() as browser, shown(browser, f"{folder}/page.html", viewport={"width": 1200, "height": 800}) as page:
        keys = page.keyboard
        for number, view in enumerate(VIEWS[1:], 2):
            keys.press(str(number))
            assert f"v={view}" in page.url, (view, page.url)
            assert page.locator(f'nav a[data-view="{view}"]').get_attribute("aria-current") == "page"
        keys.press("2")
        for _ in range(30):
            keys.press("Tab")
            if page.evaluate("document.activeElement.getAttribute('aria-label')") == "Calls":
                break
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", outline
        selected = '.tree[aria-label="Calls"] [aria-selected=true]'
        keys.press("Home")
        first = page.locator(selected).get_attribute("data-node")
        assert first == "program", first
        assert page.locator(selected).get_attribute("aria-expanded") == "true"
        keys.press("ArrowLeft")
        assert page.locator(selected).get_attribute("aria-expanded") == "false"
        keys.press("ArrowRight")
        keys.press("ArrowRight")
        second = page.locator(selected).get_attribute("data-node")
        assert second != first
        keys.press("ArrowLeft")
        keys.press("ArrowLeft")
        keys.press("End")
        active = page.locator('.tree[aria-label="Calls"]').get_attribute("aria-activedescendant")
        assert page.locator(f"#{active}").count() == 1, active
        keys.press("Enter")
        keys.press("?")
        assert page.locator("#help").evaluate("dialog => dialog.open")
        keys.press("Escape")
        assert not page.locator("#help").evaluate("dialog => dialog.open")
        keys.press("2")
        keys.press("/")
        assert page.evaluate("document.activeElement.type") == "search"
        name = page.locator('.tree[aria-label="Calls"] .row .label').last.inner_text()
        keys.type(name.split()[-1])
        keys.press("Enter")
        assert name.split()[-1] in page.locator(selected + " .label").inner_text()
        keys.press("Escape")
        keys.press("Escape")
        assert "v=overview" in page.url


def fragments(folder):
    """A link shows the same view."""
    with chromium() as browser:
        with shown(browser, f"{folder}/page.html", "#v=explorer") as page:
            open_all(page, "Metrics")
            open_all(page, "Calls")
            page.locator('.tree[aria-label="Calls"] .row').last.click()
            page.locator("select[name=n]").select_option("root")
            links = [(page.url.split("#")[1], page.locator("#app").inner_text())]
            page.locator("select[name=by]").select_option("kind")
            links.append((page.url.split("#")[1], page.locator("#app").inner_text()))
            region = model_of(folder)["paths"]["region"][0]
            for fragment in ["v=region", f"v=region&r={region}&s=work", "v=threads&t=lost", "v=source"]:
                go(page, "#" + fragment)
                page.wait_for_timeout(50)
                links.append((fragment, page.locator("#app").inner_text()))
            page.go_back()
            assert page.url.endswith("v=threads&t=lost"), page.url
        assert len({text for _, text in links}) == len(links)
        for fragment, text in links:
            with shown(browser, f"{folder}/page.html", "#" + fragment) as page:
                page.wait_for_timeout(50)
                assert page.locator("#app").inner_text() == text, fragment
        with shown(browser, f"{folder}/page.html", "#v=papyrus&m=x&c=p99999&l=y&r=-4&by=z&n=q&xc=%%") as page:
            assert page.locator("#view-overview").is_visible()


def hostile(folder):
    """Whatever things are called is text."""
    model = model_of(folder)
    with chromium() as browser, shown(browser, f"{folder}/page.html") as page:
        page.locator("details.more summary").click()
        seen = page.locator("body").inner_text()
        for fragment in ["v=explorer", "v=explorer&by=region", "v=explorer&by=kind", "v=region", "v=threads", "v=source"]:
            go(page, "#" + fragment)
            if "explorer" in fragment:
                open_all(page, "Metrics")
                open_all(page, "Calls")
            seen += page.locator("body").inner_text()
            unharmed(page)
        for region in range(len(model["regions"]["kind"])):
            go(page, f"#v=region&r={region}")
            seen += page.locator("body").inner_text()
            unharmed(page)
        go(page, "#v=<img src=x onerror=window.harmed=1>&c=</script><script>window.harmed=1</script>")
        unharmed(page)
        for field in ["application", "host", "name", "function", "directive", "note", "counter", "guard", "file"]:
            assert f"<img src=x alt={field} onerror=window.harmed=1>" in seen, field


def unharmed(page):
    assert page.evaluate("window.harmed") is None
    assert page.locator("img, svg, iframe, object, embed, link").count() == 0
    assert page.evaluate("[...document.querySelectorAll('*')].every(one => [...one.attributes].every(at => !at.name.startsWith('on')))")


def sizes(folder):
    """From 500 px to 4k nothing stands outside of the page."""
    with chromium() as browser:
        for width, height in [(500, 900), (1280, 800), (3840, 2160)]:
            for view in VIEWS:
                with shown(browser, f"{folder}/page.html", f"#v={view}", viewport={"width": width, "height": height}) as page:
                    wide = page.evaluate("document.documentElement.scrollWidth")
                    assert wide <= width or view in {"region"}, (view, width, wide)


def paint(folder):
    """Opens, and says how long that took; the times are no judgement."""
    size = os.path.getsize(f"{folder}/page.html")
    with chromium() as browser:
        begin = time.time()
        with shown(browser, f"{folder}/page.html", "#v=explorer") as page:
            ready = time.time() - begin
            paints = page.evaluate("performance.getEntriesByType('paint').map(one => [one.name, one.startTime])")
            assert page.locator('.tree[aria-label="Calls"] .row').count() > 3
        print(f"{size} bytes, paint {paints}, trees after {ready:.2f} s")


def compare(folder):
    """Before and now are what the analyses of the runs say, and noise is told from change."""
    model, now = model_of(folder), json_of(folder, "analysis")
    before = [json_of(folder, f"other{index}") for index in range(len(model["others"]))]
    with chromium() as browser, shown(browser, f"{folder}/page.html", "#v=compare") as page:
        page.wait_for_selector("table.data")
        told = page.eval_on_selector_all(
            "table.data", "tables => tables.map(table => [...table.tBodies[0].rows].map(row => [row.cells[0].textContent, ...[...row.querySelectorAll('.num')].map(one => Number(one.dataset.value)), row.querySelector('.noise') !== null]))"
        )
    rows_of = {row[0]: row[1:] for row in told[0]}
    mean = lambda values: sum(values) / len(values)
    elapsed = mean([run["run"]["duration_ns"] for run in before])
    assert rows_of["Elapsed time"][:2] == [round(elapsed), now["run"]["duration_ns"]], rows_of
    for metric in model["metrics"]:
        if metric["unit"] != "ns" or metric["name"] not in rows_of:
            continue
        is_now, was = now["parts"][metric["id"]]["ns"], mean([run["parts"][metric["id"]]["ns"] for run in before])
        assert rows_of[metric["name"]][:2] == [round(was), is_now], (metric, rows_of[metric["name"]])
    changed = [row[0] for row in told[1] if not row[-1]]
    assert changed and changed[0] == told[1][0][0] and len(changed) < len(told[1]), told[1]
    own = sum(row[1] for row in told[1])
    program = sum(part["ns"] for run in before for part in run["parts"].values()) / len(before)
    assert own <= program + len(told[1]), (own, program)


def timeline(folder):
    """Lanes hold what the profile holds; keys and links show a span."""
    profile = json_of(folder, "profile")
    with chromium() as browser:
        with shown(browser, f"{folder}/page.html", "#v=timeline") as page:
            page.wait_for_selector("table.data")
            lanes = lanes_of(page)
            for thread, sums in lanes.items():
                assert sum(sums) == profile_duration(page), (thread, sums)
            members = collections.Counter()
            for node in profile["nodes"]:
                if node["parent"] is not None:
                    continue
                for row in node["rows"]:
                    # From a member's end to the join it stands in no lane.
                    members[row["thread"]] += row.get("main", {}).get("ns", 0) - row.get("exit", {}).get("ns", 0)
            for index, thread in enumerate(profile["threads"]):
                name = "->".join(str(number) for number in thread["path"])
                busy = sum(sum(sums[1:]) for lane, sums in lanes.items() if lane == name or lane.startswith(name + "->"))
                if len(thread["path"]) == 2:
                    assert abs(busy - members[index]) <= 2000 + busy / 1000, (name, busy, members[index])
            page.locator(".lanes").focus()
            for key in ["+", "+", "ArrowRight", "-"]:
                page.keyboard.press(key)
            assert "t0=" in page.url and "t1=" in page.url, page.url
            link, seen = page.url.split("#")[1], page.locator("#app").inner_text()
            box = page.locator(".lanes").bounding_box()
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 8)
            assert "ns" in page.locator(".said").first.inner_text()
            team = page.locator(".lane-names button[aria-expanded]").first
            team.click()
            assert team.get_attribute("aria-expanded") == "false"
        with shown(browser, f"{folder}/page.html", "#" + link) as page:
            page.wait_for_selector("table.data")
            assert page.locator("#app").inner_text() == seen


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
    """A span and a thread that are selected in the timeline are told of in all other views."""
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
            for view in ["explorer", "region", "source", "threads", "overview"]:
                page.evaluate("view => document.querySelector(`nav a[data-view=${view}]`).click()", view)
                page.wait_for_selector(".selected table.data")
                told = told_in(page, ".selected")
                for kind in range(1, len(lane)):
                    assert abs(sum(row[kind] for row in told) - lane[kind]) <= len(told) + 1, (view, kind, told, lane)
            link = page.locator(".selected table.data a").first
            name = link.inner_text()
            row = next(row for row in told if row[0] == name)
            link.click()
            page.wait_for_function("name => document.querySelector('.selected caption').textContent.startsWith(name)", arg=name)
            assert told_in(page, ".selected")[0][1:] == row[1:], (name, row)
            page.locator(".selected button").click()
            assert not page.locator(".selected").is_visible() and "t1=" not in page.url


def told_in(page, place):
    return page.eval_on_selector_all(
        f"{place} table.data tbody tr", "rows => rows.map(row => [row.cells[0].textContent, ...[...row.querySelectorAll('.num')].map(one => Number(one.dataset.value))])"
    )


def iterations(folder):
    """The map of a loop's iterations says what `romp trace loops --table` says."""
    expected = collections.defaultdict(dict)
    with open(f"{folder}/loops.txt", encoding="utf-8") as file:
        for line in list(file)[1:]:
            region, first, _, executed, ns = line.rstrip("\n").split("\t")
            expected[region][int(first)] = (float(executed), float(ns))
    assert expected
    names, model = list(expected), model_of(folder)
    with chromium() as browser, shown(browser, f"{folder}/page.html", "#v=region") as page:
        met = 0
        for region in sorted(set(model["paths"]["region"])):
            go(page, f"#v=region&r={region}")
            told = page.locator("table.data", has=page.locator("caption", has_text="Most expensive first"))
            if told.count() == 0:
                continue
            row = told.locator("tbody tr").first
            first = int(row.locator("th").inner_text().split()[1])
            ns = int(row.locator(".num").first.get_attribute("data-value"))
            dearest = [max(ns for _, ns in expected[name].values()) for name in names]
            assert any(abs(ns - most) <= 1 and abs(expected[name][first][1] - most) < 0.2 for name, most in zip(names, dearest)), (first, ns, dearest)
            met += 1
        assert met == len(expected), (met, names)


def lanes_of(page):
    told = page.eval_on_selector_all(
        "table.data", "tables => [...tables[0].tBodies[0].rows].map(row => [row.cells[0].textContent, [...row.querySelectorAll('.num')].map(one => Number(one.dataset.value))])"
    )
    return dict(told)


def profile_duration(page):
    words = page.locator(".said").first.inner_text().split(" to ")[1]
    return int(words.split()[0])


def main():
    name, folder = sys.argv[1:3]
    checks = {check.__name__: check for check in [trees, numbers, keyboard, fragments, hostile, sizes, paint, compare, timeline, handovers, selection, iterations]}
    checks[name](os.path.abspath(folder))


if __name__ == "__main__":
    main()
