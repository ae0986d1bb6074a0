"""Makes pictures of a page for documentation: pictures.py PAGE FOLDER [FRAGMENT-OF-TIMELINE].

For each view a picture in light and one in dark: FOLDER/VIEW-light.png, FOLDER/VIEW-dark.png.
"""

import os
import sys

from browser import chromium, open_all, shown

WIDTH = 1150
HEIGHTS = {"overview": 900, "explorer": 620, "region": 620, "source": 620, "threads": 620, "compare": 620, "timeline": 620}


def main():
    file, folder = (os.path.abspath(one) for one in sys.argv[1:3])
    of_timeline = sys.argv[3] if len(sys.argv) > 3 else ""
    with chromium() as browser:
        for scheme in ["light", "dark"]:
            for view, height in HEIGHTS.items():
                fragment = f"#v={view}" + (of_timeline if view == "timeline" else "")
                with shown(browser, file, fragment, viewport={"width": WIDTH, "height": height}, color_scheme=scheme) as page:
                    if page.locator(f'nav a[data-view="{view}"]').count() == 0:
                        continue
                    if view == "explorer":
                        open_all(page, "Calls")
                        page.locator('.tree[aria-label="Threads"] .toggle').first.click()
                    if view in ["timeline", "compare"]:
                        page.wait_for_selector("table.data")
                    page.screenshot(path=f"{folder}/{view}-{scheme}.png")


if __name__ == "__main__":
    main()
