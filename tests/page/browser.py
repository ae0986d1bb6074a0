"""A page in a real browser that may ask nobody for anything."""

import atexit
import base64
import contextlib
import json
import shutil
import zlib

from playwright.sync_api import sync_playwright

# The commands of Chromium, the preferred one first: the build without a window draws in half the time.
COMMANDS = ["chromium-headless-shell", "chromium"]


# One browser for all checks of this process; each page has a context of its own.
started = []


@contextlib.contextmanager
def chromium():
    if not started:
        playwright = sync_playwright().start()
        path = next(filter(None, map(shutil.which, COMMANDS)), None)
        assert path, "no Chromium: run tests/setup"
        started.append(playwright.chromium.launch(executable_path=path, args=["--no-sandbox"]))
        atexit.register(playwright.stop)
    yield started[0]


@contextlib.contextmanager
def shown(browser, file, fragment="", ready=True, **options):
    """The page, opened; every request and every complaint fails."""
    options.setdefault("viewport", {"width": 1400, "height": 3000})
    context = browser.new_context(**options)
    address = f"file://{file}"
    faults = []

    def decide(route):
        if route.request.url.split("#")[0] == address:
            route.continue_()
        else:
            faults.append(f"request: {route.request.url}")
            route.abort()

    context.route("**/*", decide)
    page = context.new_page()
    page.on("console", lambda message: faults.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: faults.append(f"error: {error}"))
    try:
        page.goto(address + fragment)
        if ready:
            page.wait_for_selector("body[data-ready]", timeout=30000)
        yield page
    finally:
        context.close()
    assert not faults, faults


def go(page, fragment):
    """Follows a link within the page, until it is drawn."""
    page.evaluate("fragment => { location.hash = fragment }", fragment)
    drawn_again(page)


def address(page):
    """Where the page is. Playwright's `page.url` lags behind a key that has just been pressed."""
    return page.evaluate("location.href")


def drawn_again(page):
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")


def tab_to(page, wanted):
    """Tab until the focus is where it should be; it is in sight there."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(f"({wanted})(document.activeElement)"):
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
            return
    raise AssertionError(f"nothing that can be reached by Tab is {wanted}")


def section(text, name):
    """What the page holds under a name."""
    begin = text.index(f'id="data-{name}">') + len(f'id="data-{name}">')
    return zlib.decompress(base64.b64decode(text[begin:text.index("</script>", begin)]))


def model_of(folder):
    with open(f"{folder}/page.html", encoding="utf-8") as file:
        return json.loads(section(file.read(), "model"))


def json_of(folder, name):
    with open(f"{folder}/{name}.json", encoding="utf-8") as file:
        return json.load(file)


def rows(page, tree):
    """The rows of a tree: what each is called in links, and its value."""
    found = page.eval_on_selector_all(
        f'.tree[aria-label="{tree}"] .row',
        "rows => rows.map(row => [row.dataset.node, Number(row.querySelector('.num').dataset.value)])",
    )
    return dict(found)


def open_all(page, tree):
    """Opens every node, as a user does."""
    while page.locator(f'.tree[aria-label="{tree}"] [aria-expanded=false] .toggle').count() > 0:
        page.locator(f'.tree[aria-label="{tree}"] [aria-expanded=false] .toggle').first.click()


def choose(page, tree, node):
    page.locator(f'.tree[aria-label="{tree}"] .row[data-node="{node}"] .label').click()


# What a user can act on, and what shows something, in the words of Chromium's accessibility tree.
SPOKEN = {"button", "link", "combobox", "searchbox", "textbox", "tree", "treeitem", "application", "image", "table", "dialog", "region", "DisclosureTriangle"}


def spoken(page):
    """Everything that a screen reader can go to has a name, and each picture has a table with the same."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    for node in [one for one in nodes if not one["ignored"]]:
        role = node["role"]["value"]
        can_act = any(one["name"] == "focusable" and one["value"]["value"] for one in node["properties"])
        if role in SPOKEN or can_act:
            assert node["name"]["value"].strip(), (address(page), node)
    for details in page.locator("#app details:not([open]) summary").all():
        details.click()
    for picture in page.locator("#app canvas").all():
        assert picture.evaluate_handle(TABLE_AFTER).as_element(), (address(page), "a picture without a table")


TABLE_AFTER = """async canvas => {
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    const tables = [...document.querySelectorAll("#app table.data")];
    return tables.find(one => canvas.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING && one.tBodies[0].rows.length > 0);
}"""
