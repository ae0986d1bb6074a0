"""Makes pictures of a page for documentation: pictures.py PAGE FOLDER [FRAGMENT-OF-TIMELINE].

For each view a picture in light and one in dark: FOLDER/page-VIEW-light.png, FOLDER/page-VIEW-dark.png.
"""

import os
import sys

from browser import chromium, shown

WIDTH = 1150
HEIGHTS = {"overview": 700, "explorer": 560, "region": 560, "detail": 700, "source": 520, "threads": 620, "compare": 620, "timeline": 560}


def main():
    file, folder = (os.path.abspath(one) for one in sys.argv[1:3])
    of_timeline = sys.argv[3] if len(sys.argv) > 3 else ""
    with chromium() as browser:
        for scheme in ["light", "dark"]:
            for picture, height in HEIGHTS.items():
                view = "region" if picture == "detail" else picture
                fragment = f"#v={view}" + (of_timeline if view == "timeline" else "")
                with shown(browser, file, fragment, viewport={"width": WIDTH, "height": height}, color_scheme=scheme) as page:
                    if page.locator(f'nav a[data-view="{view}"]').count() == 0:
                        continue
                    if view == "explorer" and page.locator("nav a[data-view=compare]").count() == 1:
                        page.wait_for_selector(".row .before")
                    if picture == "detail":
                        page.locator("table.data a").first.click()
                    if view in ["timeline", "compare"]:
                        page.wait_for_selector("table.data")
                    page.screenshot(path=f"{folder}/page-{picture}-{scheme}.png")


if __name__ == "__main__":
    main()
