"""The page: one file that loads nothing, in which no text of the user's becomes markup."""

import base64
import copy
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from tests.report.browser import CHROMIUM, Browser
from tests.report.made_up import HOSTILE, content

from otherhalf.report.page import asset, json_in_script, policy, render, render_tables
from otherhalf.report.svg import Bar, bars


class Parsed(HTMLParser):
    """Tags, attributes, ids, headings and scripts of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.scripts, self._script = [], [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
            self._script = True

    def handle_endtag(self, tag):
        self._script = None if tag == "script" else self._script

    def handle_data(self, data):
        if self._script:
            attrs, text = self.scripts[-1]
            self.scripts[-1] = (attrs, text + data)


@pytest.fixture(scope="module")
def page():
    return render(content())


# ---------------------------------------------------------------------- one file


def test_nothing_is_loaded(page):
    found = Parsed(page)
    loading = [
        (tag, name, value)
        for tag, name, value in found.attributes
        if name in ("src", "srcset", "href", "action", "data", "poster", "xlink:href")
        and not value.startswith(("#", "data:"))
    ]
    assert loading == []
    assert not re.search(r"@import|url\(", page)
    assert not {"iframe", "object", "embed", "base", "form"} & set(found.tags)


def test_the_policy_allows_this_script_alone(page):
    data, *codes = Parsed(page).scripts
    assert data[0] == {"type": "application/json", "id": "data"}
    digests = [base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for _, code in codes]
    said = re.search(r'Content-Security-Policy" content="([^"]+)"', page).group(1).replace("&#39;", "'")
    assert f"script-src 'sha256-{digests[0]}' 'sha256-{digests[1]}';" in said
    assert said.startswith("default-src 'none';")
    assert "unsafe-inline" not in said.split("script-src")[1].split(";")[0]


def test_the_script_changes_with_its_hash():
    assert policy("a") != policy("b")


def test_the_script_writes_text_only():
    code = asset("page.js") + asset("explorer.js")
    for danger in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("):
        assert danger not in code
    for network in ("fetch(", "XMLHttpRequest", "WebSocket", "import(", "http:"):
        assert network not in code.replace("http://www.w3.org/2000/svg", "")


def test_every_part_is_there(page):
    order = [page.index(f'<section id="{name}"') for name in SECTIONS]
    assert order == sorted(order)
    assert page.count('<svg class="chart"') == 11


SECTIONS = ("verdict", "halves", "classifier", "quality", "explorer", "columns", "made")


def test_headings_are_in_order(page):
    levels = [int(tag[1]) for tag in Parsed(page).tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_ids_are_unique_and_links_lead_to_them(page):
    found = Parsed(page)
    ids = [value for _, name, value in found.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    links = [value[1:] for _, name, value in found.attributes if name == "href" and value.startswith("#")]
    assert links
    assert set(links) <= set(ids)


def test_two_pages_of_one_content_are_equal(page):
    assert render(content()) == page


def test_a_graph_without_a_table_has_no_columns():
    value = content()
    value["columns"] = []
    page = render(value)
    assert 'id="columns"' not in page
    assert 'href="#columns"' not in page


def test_a_model_that_does_not_diagnose():
    value = content()
    value["verdict"] = None
    page = render(value)
    assert "does not diagnose" in page
    assert 'id="halves"' in page


def test_unknown_numbers_are_dashes():
    value = content()
    value["halves"]["worth"] = None
    value["verdict"] |= {"ks": None, "ks_std": None, "cosines": None, "measures": [], "simple": []}
    value["halves"] |= {"kind": None, "rows": [], "mixing": None, "mixing_classes": []}
    value["classifier"] |= {"curves": [], "coefficients": [], "simple": []}
    value["evaluation"] |= {"part": "val", "by": [], "reliability": [], "surest_wrong": [], "confusion": []}
    value["made"]["peak_memory_mb"] = None
    page = render(value)
    assert not re.search(r"\bNone\b(?!\.)", page)
    assert "--worth" in page
    assert "validation nodes" in page


# ---------------------------------------------------------------------- hostile text


def test_hostile_text_changes_no_tag_and_no_attribute():
    plain, hostile = Parsed(render(content())), Parsed(render(content(hostile=True)))

    def without_titles(found):
        return [(tag, name) for tag, name, _ in found.attributes if name != "title"]

    assert hostile.tags == plain.tags
    assert without_titles(hostile) == without_titles(plain)
    assert len(hostile.scripts) == 3
    assert hostile.scripts[1:] == plain.scripts[1:]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_in_the_data_comes_back_as_it_was(text):
    inside = json_in_script({text: [text]})
    assert json.loads(inside) == {text: [text]}
    assert not re.search("[<>&\u2028\u2029]", inside)


def test_a_template_in_a_name_is_not_run():
    value = content()
    value["name"] = "{{7*7}}"
    page = render(value)
    assert "{{7*7}}" in page
    assert "<bdi>49</bdi>" not in page


def test_an_id_with_one_half_of_a_character():
    value = content()
    value["explorer"]["nodes"]["id"][0] = value["name"] = "a\ud800b"
    assert "a?b" in render(value).encode("utf-8").decode("utf-8")


# ---------------------------------------------------------------------- tables of experiments


def tables(text="**88.1** ± 1\n(87)"):
    return [{"title": "one", "columns": ["", text], "rows": [[text, text]], "notes": [text]}]


def test_a_page_of_tables():
    page = render_tables("one", tables(), command="otherhalf compare x")
    assert page.count("<b>88.1</b> ± 1<br>(87)") == 3
    assert "otherhalf compare x" in page
    assert page.count("<h1") == 1
    assert "<h2>one" not in page  # it is the title already


def test_a_page_of_tables_with_pictures():
    chart = bars([Bar("a", 0.5)], "t")
    page = render_tables("t", tables(), chart=chart, images=[{"title": "c", "data": b"PNG"}])
    assert str(chart) in page
    assert "data:image/png;base64,UE5H" in page


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_tables(text):
    plain, hostile = (
        Parsed(render_tables(each, tables(each), command=each, images=[{"title": each, "data": b""}]))
        for each in ("a" * min(len(text), 100), text.replace("\n", " "))
    )
    assert hostile.tags == plain.tags


# ---------------------------------------------------------------------- in a browser


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: `apt-get install chromium` gets it")
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    made = {"plain": content(), "hostile": content(hostile=True, seed=3)}
    for name, value in made.items():
        (folder / f"{name}.html").write_bytes(render(value).encode())
    return {name: folder / f"{name}.html" for name in made}


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["plain", "hostile"])
def test_the_page_opens(browser, files, name, width, dark):
    browser.open(files[name], width=width, dark=dark)
    assert browser.complaints() == []
    assert browser.requests() == [files[name].as_uri()]
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    background = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    red = int(re.search(r"\d+", background).group())
    assert (red < 60) == dark


def test_hostile_text_is_text(browser, files):
    browser.open(files["hostile"])
    for button in ("any", "wrong", "any", "wrong"):
        browser.evaluate(f"document.getElementById('{button}').click()")
    assert browser.evaluate("document.images.length") == 0
    assert browser.evaluate("document.scripts.length") == 3
    assert browser.evaluate("document.querySelectorAll('[onload],[onerror]').length") == 0
    assert browser.evaluate("document.querySelectorAll('#node h3').length") in (1, 2)
    assert browser.complaints() == []


def test_a_script_that_is_not_ours_does_not_run(browser, files, tmp_path):
    text = files["plain"].read_text(encoding="utf-8")
    changed = tmp_path / "changed.html"
    evil = "<script>document.title='evil'</script><img src=x onerror=\"document.title='evil'\">"
    changed.write_text(text.replace("</body>", f"{evil}</body>"), encoding="utf-8")
    browser.open(changed)
    assert browser.evaluate("document.title") == "made-up · otherhalf report"
    assert len(browser.complaints()) >= 2


def test_search_and_click(browser, files):
    browser.open(files["plain"])
    browser.evaluate("document.getElementById('search').focus()")
    for key in "n12":
        browser.press(key, key)
    assert browser.evaluate("document.querySelectorAll('#found li').length") == 1
    browser.press("Enter")
    assert title(browser).startswith("Node n12")
    assert "Node n12 is taken for" in browser.evaluate("document.getElementById('told').textContent")
    reached = browser.evaluate(
        "(() => { const b = document.querySelector('.neighbours button'); b.click(); return b.innerText })()"
    )
    assert title(browser).split()[1] == reached
    browser.evaluate("document.getElementById('back').click()")
    assert title(browser).startswith("Node n12")


def title(browser):
    return browser.evaluate("document.querySelector('.node-title').textContent")


def test_a_wrong_node_opens_the_explorer(browser, files):
    browser.open(files["plain"])
    browser.evaluate("document.querySelector('button[data-node=\"4\"]').click()")
    assert title(browser).startswith("Node n4")


def test_a_search_without_result_says_so(browser, files):
    browser.open(files["plain"])
    browser.evaluate("document.getElementById('search').focus()")
    browser.press("z", "z")
    assert (
        browser.evaluate("document.getElementById('told').textContent")
        == "No node here has an id with z in it."
    )
    assert browser.evaluate("document.getElementById('found').hidden") is True


def test_contributions_add_up_on_the_page(browser, files):
    browser.open(files["plain"])
    browser.evaluate("document.querySelector('button[data-node=\"1\"]').click()")
    parts = browser.evaluate(
        "[...[...document.querySelectorAll('.why .bars')][1].querySelectorAll('.n')].map(e => e.textContent)"
    )
    total = float(browser.evaluate("document.querySelector('.sum b').textContent"))
    assert sum(float(part.replace("−", "-")) for part in parts) == pytest.approx(total, abs=0.002)


def test_the_toggle_changes_the_colours(browser, files):
    browser.open(files["plain"])
    colour = "getComputedStyle(document.body).backgroundColor"
    before = browser.evaluate(colour)
    browser.evaluate("document.getElementById('theme').click()")
    assert browser.evaluate(colour) != before
    assert browser.evaluate("document.getElementById('theme').getAttribute('aria-pressed')") == "true"
    browser.evaluate("document.getElementById('theme').click()")
    assert browser.evaluate(colour) == before


def test_without_scripts_all_but_the_explorer_works(browser, files):
    browser.open(files["plain"], script=False)
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.evaluate("getComputedStyle(document.getElementById('explore')).display") == "none"
    assert browser.evaluate("document.querySelectorAll('svg.chart').length") == 11


def test_every_control_has_a_name(browser, files):
    browser.open(files["plain"])
    unnamed = browser.evaluate(
        "[...document.querySelectorAll('button, input')]"
        ".filter(e => !(e.textContent.trim() || e.labels.length)).map(e => e.outerHTML)"
    )
    assert unnamed == []


def test_many_nodes_open_quickly(browser, tmp_path):
    value = content(20_000, 7)
    explorer = value["explorer"]
    explorer["details"] = explorer["details"][:2_000]
    explorer["nodes"]["detail"] = [place if place < 2_000 else -1 for place in range(20_000)]
    path = tmp_path / "large.html"
    path.write_bytes(render(value).encode())
    assert min(browser.open(path) for _ in range(3)) < 2.0  # the machine may have other work
    assert browser.complaints() == []


def test_rendering_leaves_the_content_alone():
    value = content()
    before = copy.deepcopy(value)
    render(value)
    assert value == before
