"""Check pages with axe-core from npm, in Chromium: ``python scripts/page_accessibility.py PAGE.html …``.

Each page is checked on a phone and on a desktop, in light and in dark colours. The exit status is 1 if a rule
of WCAG 2 A or AA, or one of axe's best practices, is violated.
"""

import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.report.browser import Browser  # noqa: E402

ASK = "axe.run().then(found => JSON.stringify(found.violations.map(each => " + (
    "({rule: each.id, help: each.help, nodes: each.nodes.slice(0, 5).map(node => node.html.slice(0, 200) + "
    "' | ' + (node.any[0] || node.all[0] || node.none[0] || {}).message)}))))"
)


def axe() -> str:
    """Return the code of axe-core."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["npm", "pack", "--silent", "axe-core"], cwd=folder, check=True, capture_output=True, text=True
        )
        with tarfile.open(Path(folder) / done.stdout.split()[-1]) as archive:
            member = archive.extractfile("package/axe.min.js")
            assert member is not None
            return member.read().decode("utf-8")


def main(pages: list[str]) -> int:
    """Print the violations of each page; return their number."""
    code, total = axe(), 0
    browser = Browser()
    try:
        for page in pages:
            for width, dark in ((1280, False), (1280, True), (375, False), (375, True)):
                browser.open(Path(page), width=width, dark=dark)
                browser.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
                browser.evaluate(f"{code};0")
                found = json.loads(browser.evaluate(ASK))
                total += len(found)
                print(f"{page}, {width} px, {'dark' if dark else 'light'}: {len(found)} violations")
                for each in found:
                    print(f"  {each['rule']}: {each['help']}")
                    for node in each["nodes"]:
                        print(f"    {node}")
    finally:
        browser.close()
    return total


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(1 if main(sys.argv[1:]) else 0)
