"""What is wider than the screen."""

import base64

from browser import chromium, drawn_again, go, model_of, shown, spoken


SMALL = {"width": 500, "height": 900}


def edges(folder):
    """On a small screen, the page of a region tells where its directive, tables and strips of heat go on. The first screen is hidden then."""
    region = model_of(folder)["paths"]["region"][0]
    with chromium() as browser:
        for scheme in ["light", "dark"]:
            with shown(browser, f"{folder}/page.html", f"#v=region&r={region}", viewport=SMALL, color_scheme=scheme) as page:
                assert wide_parts(page, "main pre.wide") == 1 and wide_parts(page, "main div.wide") > 0
                strip(page, page.locator(".heat-cells"))


def excerpts(folder):
    """So do the lines of the source on the first screen. Without a script they have the shadow."""
    with chromium() as browser:
        for scheme in ["light", "dark"]:
            with shown(browser, f"{folder}/page.html", viewport=SMALL, color_scheme=scheme) as page:
                assert wide_parts(page, "pre.wide") > 0
        with shown(browser, f"{folder}/page.html", ready=False, java_script_enabled=False, viewport=SMALL) as page:
            assert page.eval_on_selector_all("pre.excerpt", "all => all.length > 0 && all.every(one => one.matches('.wide'))")


def strip(page, cells):
    """A strip of heat has a shadow where it goes on, and shows the cell that keys have chosen."""
    page.add_style_tag(content=".heat-cells canvas { visibility: hidden }")
    around = page.locator(".heat-edges")
    drawn_again(page)
    assert shadows(page, around) == [False, True]
    cells.focus()
    page.keyboard.press("End")
    cells.blur()
    drawn_again(page)
    assert cells.evaluate("one => one.scrollLeft + one.clientWidth >= one.scrollWidth - 1")
    assert shadows(page, around) == [True, False]
    cells.focus()
    page.keyboard.press("Home")
    assert cells.evaluate("one => one.scrollLeft") == 0


def wide_parts(page, parts):
    """What goes on behind an edge has a shadow there, and keys move it; the focus stops at nothing else of this kind."""
    drawn_again(page)
    tables = page.eval_on_selector_all(parts, """parts => parts.map(one =>
        [one.scrollWidth > one.clientWidth, one.tabIndex === 0, one.getAttribute('role') === 'region' && one.getAttribute('aria-label')])""")
    assert all(is_wide == is_reached == bool(name) for is_wide, is_reached, name in tables), tables
    for at, (is_wide, *_) in enumerate(tables):
        host = page.locator(parts).nth(at)
        if not is_wide:
            assert shadows(page, host) == [False, False], at
            continue
        assert shadows(page, host) == [False, True], at
        host.focus()
        for _ in range(50):
            page.keyboard.press("ArrowRight")
        page.wait_for_function("host => host.scrollLeft + host.clientWidth >= host.scrollWidth - 1", arg=host.element_handle())
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        host.blur()
        assert shadows(page, host) == [True, False], at
        page.emulate_media(media="print")
        assert shadows(page, host) == [False, False], at
        page.emulate_media(media="screen")
    spoken(page)
    return sum(is_wide for is_wide, *_ in tables)


def shadows(page, host):
    """Whether the colour at the lower end of an element changes towards its left edge, and towards its right one."""
    picture = base64.b64encode(host.screenshot()).decode()
    return page.evaluate("""async text => {
        const bytes = Uint8Array.from(atob(text), one => one.charCodeAt(0));
        const picture = await createImageBitmap(new Blob([bytes]));
        const context = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
        context.drawImage(picture, 0, 0);
        const { data } = context.getImageData(0, picture.height - 4, picture.width, 1);
        const at = x => [...data.slice(4 * x, 4 * x + 3)];
        const middle = at(picture.width >> 1);
        return [at(4), at(picture.width - 5)].map(one => one.some((value, index) => Math.abs(value - middle[index]) > 8));
    }""", picture)
