"""Checks of the page that compares runs."""

from browser import address, chromium, drawn_again, json_of, model_of, open_all, rows, shown, spoken, tab_to


def compare(folder):
    """What the page compares is what `romp diff` compares, and all views can show the run before."""
    model, diff = model_of(folder), json_of(folder, "diff")
    now = json_of(folder, "analysis")
    before = [json_of(folder, f"other{index}") for index in range(len(model["others"]))]
    with chromium() as browser:
        with shown(browser, f"{folder}/page.html", "#v=compare&d=all") as page:
            page.wait_for_selector("table.data")
            assert diff["verdict"][1:].replace("->", "→") in page.locator(".verdict").last.inner_text()
            program, *causes, regions = page.eval_on_selector_all(
                "table.data",
                "tables => tables.map(table => [...table.tBodies[0].rows].map(row => [...[...row.querySelectorAll('.num')].map(one => Number(one.dataset.value)), row.querySelector('.noise') !== null]))",
            )
            said = lambda changes: [[one["before"]["median"], one["after"]["median"], one["change_ns"], one["noise"]] for one in changes]
            assert program == said(diff["program"]), (program, diff["program"])
            assert regions == said(diff["regions"]), (regions, diff["regions"])
            assert causes == [said(diff["causes"])][: len(causes)], causes
            assert any(one["noise"] for one in diff["regions"]) and not all(one["noise"] for one in diff["regions"])
            page.locator("select[name=d]").select_option("changes")
            assert page.locator(".noise").count() == 2 * sum(one["noise"] for one in diff["program"] + diff["causes"])
        with shown(browser, f"{folder}/page.html", "#v=explorer") as page:
            page.wait_for_selector(".row .before")
            open_all(page, "Metrics")
            was = page.eval_on_selector_all(
                '.tree[aria-label="Metrics"] .row', "rows => rows.map(row => [row.dataset.node, Number(row.querySelector('.before').dataset.value)])"
            )
            middle = lambda part: sorted(run["parts"][part]["ns"] for run in before)[len(before) // 2]
            told = [(node, value) for node, value in was if node in now["parts"]]
            assert told and all(value == middle(node) for node, value in told), was
        for view in ["explorer", "region", "source", "threads"]:
            with shown(browser, f"{folder}/page.html", f"#v={view}") as page:
                text = page.locator("#app").inner_text()
                page.locator("select[name=run]").select_option("1")
                page.wait_for_function("text => document.querySelector('#app').innerText !== text", arg=text)
                if view == "explorer":
                    open_all(page, "Metrics")
                    seen = rows(page, "Metrics")
                    assert all(seen.get(part, 0) == of["ns"] for part, of in before[1]["parts"].items()), seen


        compared_with_keys(browser, f"{folder}/page.html")


def one_sided(folder):
    """A construct that is only in one of the programs is never compared, and where it was not it has no time."""
    model, diff = model_of(folder), json_of(folder, "diff")
    of = lambda *statuses: [one for one in diff["regions"] if one["region"]["status"] in statuses and one["subject"] == "execT"]
    place = lambda one: f"{one['region']['file'].split('/')[-1]}:{one['region']['line']}"
    is_unrelated = of("both") == []
    with chromium() as browser:
        with shown(browser, f"{folder}/page.html", "#v=compare&d=all") as page:
            page.wait_for_selector("table.data")
            said = page.locator(".verdict").last.inner_text()
            assert ("no construct is in both" in said) == is_unrelated, said
            assert (page.locator(".better, .worse").count() == 0) or not is_unrelated
            tables = dict(page.eval_on_selector_all(
                "#app table.data", "tables => tables.map(one => [one.caption.textContent, [...one.tBodies[0].rows].map(row => [row.cells[0].innerText, row.cells[1].innerText, row.querySelector('.num').dataset.value])])"
            ))
            listed = tables["Constructs that are only in one of the programs"]
            for status, words in [("new", "only now"), ("vanished", "only before")]:
                told = {int(time) for _, where, time in listed if where == words} - {0}
                times = {one["after_ns" if status == "new" else "before_ns"] for one in of(status)}
                assert times and told == times, (status, told, times)
            assert all(any(place(one) in name for name, *_ in listed) for one in of("new", "vanished")), listed
            compared = tables.get("Thread times of regions, largest change first", [])
            assert len(compared) == sum(one["region"]["status"] == "both" for one in diff["regions"])
        with shown(browser, f"{folder}/page.html", "#v=explorer&by=region") as page:
            page.wait_for_selector(".row .before")
            beside = page.eval_on_selector_all(
                '.tree[aria-label="Calls"] .row', "rows => rows.map(row => [row.querySelector('.label').innerText, row.querySelector('.before').innerText])"
            )
            added = {place(one) for one in of("new")}
            for name, before in beside:
                assert (before == "new") == any(name.endswith(one) for one in added), (name, before, added)
            assert any(before == "new" for _, before in beside), beside


# Whether the page shows another text than this one.
CHANGED = "text => document.querySelector('#app').innerText !== text"


def next_choice(page, name, fragment):
    """Takes the next entry of a choice by keys. The view changes, and the choice keeps the focus."""
    before = page.locator("#app").inner_text()
    tab_to(page, f"one => one.name === '{name}'")
    page.keyboard.press("ArrowDown")
    page.wait_for_function(CHANGED, arg=before)
    assert page.evaluate("document.activeElement.name") == name and fragment in address(page)
    drawn_again(page)


def compared_with_keys(browser, file):
    """Comparing takes no mouse, and a link shows the same."""
    with shown(browser, file) as page:
        keys = page.keyboard
        keys.press("?")
        assert "in a choice" in page.locator("#help").inner_text()
        keys.press("Escape")
        keys.press("6")
        assert page.locator('nav a[data-view="compare"]').get_attribute("aria-current") == "page"
        page.wait_for_selector("table.data")
        spoken(page)
        drawn_again(page)
        next_choice(page, "d", "d=all")
        links = [(address(page).split("#")[1], page.locator("#app").inner_text())]
        tab_to(page, "one => one.matches('#app table.data a')")
        keys.press("Enter")
        assert "v=region" in address(page), address(page)
        # All other views show the run before, and the choice keeps the focus.
        page.wait_for_function(CHANGED, arg=links[0][1])
        drawn_again(page)
        next_choice(page, "run", "run=0")
        links.append((address(page).split("#")[1], page.locator("#app").inner_text()))
        page.go_back()
        page.wait_for_selector('nav a[data-view="compare"][aria-current]')
    for fragment, text in links:
        with shown(browser, file, "#" + fragment) as page:
            page.wait_for_selector("table.data")
            drawn_again(page)
            assert page.locator("#app").inner_text() == text, fragment
