"""Checks of the page in a browser: check.py NAME FOLDER, or check.py with lines of these words.

The folder has page.html, and profile.json and analysis.json to hold it to. Each line is answered
with a line of JSON: whether the check passed, and what it said. One browser serves all checks.
"""

import collections
import contextlib
import io
import json
import os
import sys
import time
import traceback

from browser import address, choose, chromium, drawn_again, go, json_of, model_of, open_all, rows, shown, spoken, tab_to
from compared import compare, one_sided
from edges import edges, excerpts
from sums import severities
import traced

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
    counters = [f"counter-{name}" for name in profile["run"].get("counters", [])]
    with chromium() as browser, shown(browser, f"{folder}/page.html", "#v=explorer") as page:
        for tree in ["Metrics", "Calls", "Threads"]:
            open_all(page, tree)
        metrics = rows(page, "Metrics")
        for name, part in analysis["parts"].items():
            assert metrics.get(name, 0) == part["ns"], (name, metrics)
        assert all(name in metrics for name in counters), (counters, metrics)
        known = [name for name in metrics if name in analysis["parts"] or name == "executions" or name in counters]
        for metric in known:
            sums_of_a_metric(page, model, expected, chains, metrics, metric)
        groups_of_metrics(page, model, analysis)
        flat(page, model)


def sums_of_a_metric(page, model, expected, chains, metrics, metric):
    by_chain, by_thread = collections.Counter(), collections.Counter()
    for (chain, thread), cell in expected.items():
        by_chain[chain] += cell[metric]
        by_thread[thread] += cell[metric]
    told = page.evaluate(SWEEP, [metric, metric in FOLDED])
    holds_what_is_below(metric, told["calls"])
    holds_what_is_below(metric, told["threads"])
    own = collections.Counter()
    for node, _, value in told["calls"]["open"]:
        own[chains[node]] += value
    program = own.pop((), 0)
    assert +own == +by_chain, (metric, own, by_chain)
    assert program + sum(own.values()) == metrics[metric], metric
    # If it is folded, the program's node has the whole time, and the threads show all of it.
    assert told["calls"]["folded"]["program"] == metrics[metric], metric
    threads = {node: value for node, _, value in told["threads"]["open"]}
    for thread, name in enumerate(model["threads"]["name"]):
        of_program = program if metric == "serial" and threads["untold"] == 0 and "->" not in name else 0
        assert threads[f"t{name}"] - of_program == by_thread[thread], (metric, name)
    assert sum(threads.values()) == metrics[metric], metric


# The metrics for which every node is folded, one of each kind: how a fold sums up does not depend on the
# metric, and each fold draws the page again.
FOLDED = {"work", "executions", "counter-misses in L2"}

# Chooses a metric. Folds the calls, from the last one up or only the outermost, and then opens and folds the
# threads of the whole program. Tells for each tree all rows with everything open, and for each node that was
# folded what it shows when everything below it is folded, too. In the end both trees are as they were, open.
SWEEP = """([metric, all]) => {
    const rows = label => [...document.querySelectorAll(`.tree[aria-label="${label}"] .row`)];
    const value = row => Number(row.querySelector('.num').dataset.value);
    const row = (label, node) => rows(label).find(one => one.dataset.node === node);
    const toggle = (label, node) => row(label, node).querySelector('.toggle').click();
    const read = label => rows(label).map(one => [one.dataset.node, Number(one.getAttribute('aria-level')), value(one)]);
    const fold = label => {
        const open = read(label), folded = {};
        const parents = rows(label).filter(one => one.getAttribute('aria-expanded') === 'true').map(one => one.dataset.node);
        if (!all) parents.length = 1;
        for (const node of parents.reverse()) {
            toggle(label, node);
            folded[node] = value(row(label, node));
        }
        return { open, folded, parents: parents.reverse() };
    };
    const unfold = (label, parents) => { for (const node of parents) toggle(label, node); };
    row('Metrics', metric).querySelector('.label').click();
    const calls = fold('Calls');
    row('Calls', 'program').querySelector('.label').click();
    const threads = fold('Threads');
    unfold('Threads', threads.parents);
    unfold('Calls', calls.parents);
    return { calls, threads };
}"""


def holds_what_is_below(about, tree):
    """Each node that is folded holds what it and all below it held open."""
    rows_of = tree["open"]
    for at, (node, level, value) in enumerate(rows_of):
        if node not in tree["folded"]:
            continue
        below = []
        for _, depth, one in rows_of[at + 1 :]:
            if depth <= level:
                break
            below.append(one)
        assert below and tree["folded"][node] == value + sum(below), (about, node, tree["folded"][node], value, below)


def groups_of_metrics(page, model, analysis):
    """A group of metrics holds nothing of its own, and folded what stands in it."""
    members = collections.defaultdict(int)
    for metric in model["metrics"]:
        if metric["unit"] == "ns":
            members["time"] += analysis["parts"][metric["id"]]["ns"]
            if metric["group"] != metric["name"]:
                members[f"group-{metric['group']}"] += analysis["parts"][metric["id"]]["ns"]
    for group in [name for name in rows(page, "Metrics") if name in members]:
        choose(page, "Metrics", group)
        assert sum(rows(page, "Calls").values()) == 0, group
        toggle = page.locator(f'.tree[aria-label="Metrics"] .row[data-node="{group}"] .toggle')
        toggle.click()
        assert rows(page, "Metrics")[group] == members[group], group
        assert sum(rows(page, "Calls").values()) == members[group], group
        toggle.click()
    choose(page, "Metrics", "work")


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
            lists(page, model, severities(json_of(folder, "profile")), [*analysis["parts"]])
            source_bars(page, model)


def lists(page, model, expected, parts):
    """The list of regions and the threads' matrix hold the sums of the profile's rows."""
    own, executions, cells = collections.Counter(), collections.Counter(), collections.defaultdict(collections.Counter)
    for (chain, thread), cell in expected.items():
        time = sum(cell[part] for part in parts)
        own[chain[-1]] += time
        executions[chain[-1]] += cell["executions"]
        cells[thread][chain[-1]] += time
    go(page, "#v=region")
    told = page.eval_on_selector_all(
        "#app table.data tbody tr", "rows => rows.map(row => [Number(new URLSearchParams(row.querySelector('a').hash.slice(1)).get('r')), ...[...row.querySelectorAll('.num')].slice(0, 2).map(one => Number(one.dataset.value))])"
    )
    assert {region: (count, time) for region, count, time in told} == {region: (executions[region], own[region]) for region, *_ in told}, (told, own)
    assert len(told) == len(set(model["paths"]["region"]))
    go(page, "#v=threads")
    page.locator("#app details summary").click()
    page.wait_for_selector("#app details table")
    matrix = page.eval_on_selector_all(
        "#app details table.data tbody tr", "rows => rows.map(row => [row.cells[0].textContent, [...row.querySelectorAll('.num')].map(one => Number(one.dataset.value))])"
    )
    assert matrix
    for name, values in matrix:
        thread = model["threads"]["name"].index(name)
        assert sorted(filter(None, values)) == sorted(filter(None, cells[thread].values())), (name, values, cells[thread])


def source_bars(page, model):
    """The bars beside the source are as long as the times that they show."""
    for fragment in files_of(model):
        go(page, f"#{fragment}")
        page.wait_for_selector(".mark")
        bars = page.eval_on_selector_all(
            ".mark .parts", "bars => bars.map(bar => [[...bar.children].reduce((sum, one) => sum + one.getBoundingClientRect().width, 0), [...bar.children].reduce((sum, one) => sum + parseFloat(one.style.width), 0) / 100 * bar.getBoundingClientRect().width])"
        )
        assert bars and all(abs(drawn - meant) < 0.5 for drawn, meant in bars), (fragment, bars)


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
            # The table has "not known" as a column of its own; the profile has it in the work.
            untold = line[head.index("not known")] if title == "work" and "not known" in head else 0
            assert value + untold == thread[names[title]], (row["region"], line, title, thread)


def keyboard(folder):
    """Everything without a mouse, with the focus in sight."""
    with chromium() as browser, shown(browser, f"{folder}/page.html", viewport={"width": 1200, "height": 800}) as page:
        keys = page.keyboard
        for number, view in enumerate(VIEWS[1:], 2):
            keys.press(str(number))
            drawn_again(page)
            assert f"v={view}" in address(page), (view, address(page))
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
        # To a region of the list.
        keys.press("3")
        tab_to(page, "one => one.textContent === 'all regions'")
        keys.press("Enter")
        tab_to(page, "one => one.matches('table.data a')")
        keys.press("Enter")
        assert "r=" in address(page) and page.locator("h2", has_text="Call paths").count() == 1, address(page)
        # The strip of heat describes the cell that the arrow keys select.
        tab_to(page, "one => one.matches('.heat-cells')")
        told = page.locator(".heat .said")
        first = told.inner_text()
        keys.press("ArrowRight")
        assert first and told.inner_text() != first, first
        # From a line of the source to the region. The lines are drawn anew when the focus scrolls them.
        keys.press("4")
        tab_to(page, "one => one.matches('.source')")
        keys.press("Home")
        page.set_viewport_size({"width": 1200, "height": 400})
        seen = set()
        while len(seen) < page.locator(".mark").count():
            tab_to(page, "one => one.matches('.mark')")
            drawn_again(page)
            mark = page.evaluate("document.activeElement.getAttribute('href')")
            assert mark and mark not in seen, (mark, seen)
            seen.add(mark)
        keys.press("Enter")
        assert "v=region" in address(page), address(page)
        # From the threads' matrix to the region of the row.
        keys.press("5")
        tab_to(page, "one => one.matches('.heat-cells')")
        keys.press("ArrowDown")
        keys.press("Enter")
        assert "v=region" in address(page), address(page)
        keys.press("Escape")
        assert "v=overview" in address(page)


def names(folder):
    """A screen reader has a name for everything, and a table for each picture."""
    region = model_of(folder)["paths"]["region"][0]
    with chromium() as browser, shown(browser, f"{folder}/page.html") as page:
        spoken(page)
        for view in [*VIEWS[1:], f"region&r={region}"]:
            go(page, f"#v={view}")
            page.wait_for_selector("#app .view")
            spoken(page)
        page.keyboard.press("?")
        spoken(page)


def fragments(folder):
    """A link shows the same view."""
    with chromium() as browser:
        with shown(browser, f"{folder}/page.html", "#v=explorer") as page:
            open_all(page, "Metrics")
            open_all(page, "Calls")
            page.locator('.tree[aria-label="Calls"] .row').last.click()
            page.locator("select[name=n]").select_option("root")
            links = [(address(page).split("#")[1], page.locator("#app").inner_text())]
            page.locator("select[name=by]").select_option("kind")
            links.append((address(page).split("#")[1], page.locator("#app").inner_text()))
            region = model_of(folder)["paths"]["region"][0]
            for fragment in ["v=region", f"v=region&r={region}&s=work", "v=threads&t=lost", "v=source"]:
                go(page, "#" + fragment)
                page.wait_for_timeout(50)
                links.append((fragment, page.locator("#app").inner_text()))
            page.go_back()
            assert address(page).endswith("v=threads&t=lost"), address(page)
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
        for fragment in ["v=explorer", "v=explorer&by=region", "v=explorer&by=kind", "v=region", "v=threads", "v=source", "v=compare&d=all", "v=explorer&run=0", *files_of(model)]:
            go(page, "#" + fragment)
            page.wait_for_timeout(50)
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
        for field in ["application", "host", "start", "name", "function", "directive", "schedule", "note", "counter", "guard", "file", "text", "other"]:
            assert f"<img src=x alt={field} onerror=window.harmed=1>" in seen, field


def files_of(model):
    return [f"v=source&f={file}" for file in range(len(model["regions"]["files"]))]


def unharmed(page):
    assert page.evaluate("window.harmed") is None
    assert page.locator("img, svg, iframe, object, embed, link").count() == 0
    assert page.evaluate("[...document.querySelectorAll('*')].every(one => [...one.attributes].every(at => !at.name.startsWith('on')))")


def sizes(folder):
    """From 500 px to 4k nothing stands outside of the page."""
    with chromium() as browser:
        for width, height in [(500, 900), (1280, 800), (3840, 2160)]:
            with shown(browser, f"{folder}/page.html", viewport={"width": width, "height": height}) as page:
                for view in VIEWS:
                    view_of(page, view)
                    wide = page.evaluate("document.documentElement.scrollWidth")
                    assert wide <= width, (view, width, wide)


def view_of(page, view):
    """Shows a view, until it is drawn."""
    go(page, f"#v={view}")
    page.wait_for_function("view => document.querySelector(`nav a[data-view=${view}][aria-current]`) && (view === 'overview' || document.querySelector('#app .view'))", arg=view)


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


def appearance(folder):
    """Light, dark and on paper it can be read: what there is stands out, and paper has no controls."""
    contrast = """() => {
        const rgb = colour => (colour.match(/[\\d.]+/g) ?? [0, 0, 0]).slice(0, 3).map(Number);
        const light = colour => { const [r, g, b] = rgb(colour).map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const ground = one => { for (; one; one = one.parentElement) { const is = getComputedStyle(one).backgroundColor; if (!/, 0\\)$/.test(is)) return is; } return 'rgb(255, 255, 255)'; };
        return [...document.querySelectorAll('p, th, td, a, h1, h2, .label, .num, code, dt, summary')].filter(one => one.checkVisibility() && one.innerText.trim() && !one.matches('.zero')).map(one => {
            const [text, below] = [light(getComputedStyle(one).color), light(ground(one))];
            return [(Math.max(text, below) + 0.05) / (Math.min(text, below) + 0.05), one.outerHTML.slice(0, 80)];
        }).filter(([ratio]) => ratio < 4.5);
    }"""
    grounds = {}
    with chromium() as browser:
        for scheme in ["light", "dark"]:
            with shown(browser, f"{folder}/page.html", color_scheme=scheme) as page:
                for view in VIEWS:
                    view_of(page, view)
                    assert page.evaluate(contrast) == [], (scheme, view)
                grounds[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert grounds["light"] != grounds["dark"], grounds
        with shown(browser, f"{folder}/page.html", color_scheme="dark") as page:
            page.emulate_media(media="print", color_scheme="light")
            for view in VIEWS:
                view_of(page, view)
                assert not page.locator("nav").is_visible() and not page.locator("select").first.is_visible()
                assert page.evaluate(contrast) == [], ("print", view)
                assert page.evaluate("[...document.querySelectorAll('.tree, .source')].every(one => one.scrollHeight <= one.clientHeight + 1)"), view
        # All rows are printed, not only those that a small screen shows.
        with shown(browser, f"{folder}/page.html", viewport={"width": 1200, "height": 400}) as page:
            count = "() => [...document.querySelectorAll('.rows')].map(one => [...one.children].at(-1)?.offsetTop + one.firstChild?.offsetHeight === one.offsetHeight)"
            page.evaluate(f"addEventListener('beforeprint', () => {{ window.printed = ({count})() }})")
            for view in VIEWS:
                view_of(page, view)
                page.evaluate("window.printed = null")
                assert page.pdf()[:5] == b"%PDF-"
                assert all(page.evaluate("window.printed")), (view, page.evaluate("window.printed"))


def answered(checks, line):
    """What a check said, and whether it passed."""
    name, folder = line.rstrip("\n").split("\t")
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            checks[name](os.path.abspath(folder))
        return {"passed": True, "said": said.getvalue()}
    except Exception:
        return {"passed": False, "said": said.getvalue() + traceback.format_exc()}


def main():
    checks = [trees, numbers, keyboard, names, fragments, hostile, sizes, edges, excerpts, paint, compare, one_sided, appearance, *traced.CHECKS]
    checks = {check.__name__: check for check in checks}
    if len(sys.argv) > 2:
        checks[sys.argv[1]](os.path.abspath(sys.argv[2]))
        return
    for line in sys.stdin:
        print(json.dumps(answered(checks, line)), flush=True)


if __name__ == "__main__":
    main()
