"""The page as a browser draws it: nothing runs out of its margins, on a wide screen or a narrow one."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from release.report.build import build_report
from release.report.files import read_release
from release.report.model import Report
from release.report.page import report_html
from tests.release.small_release import make_release

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium")
QUIET = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync --hide-scrollbars"
).split()
PADDING = 20


def draw(folder: Path, page: bytes, width: int) -> np.ndarray:
    """Return the page's pixels, shape (height, width), 0 for white."""
    from PIL import Image

    (folder / "page.html").write_bytes(page)
    picture = folder / "page.png"
    options = [f"--user-data-dir={folder / 'profile'}", f"--window-size={width},4000", f"--screenshot={picture}"]
    subprocess.run(
        [CHROMIUM, *QUIET, *options, (folder / "page.html").as_uri()], check=True, capture_output=True, timeout=120
    )
    with Image.open(picture) as image:
        return 255 - np.asarray(image.convert("L"))


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Report:
    release = make_release(tmp_path_factory.mktemp("small") / "workspace", mechanism="aim", formats='["csv"]')
    return build_report(read_release(release))


def with_long_names(report: Report) -> Report:
    columns = tuple(c.model_copy(update={"name": f"{c.name}_" + "x" * 120}) for c in report.accuracy.columns)
    accuracy = report.accuracy.model_copy(update={"columns": columns})
    return report.model_copy(update={"accuracy": accuracy, "release_id": "long-" * 40})


@pytest.mark.parametrize(("width", "names"), [(1000, "short"), (500, "long")])
def test_nothing_runs_out_of_the_margins(tmp_path, report, width, names):
    pixels = draw(tmp_path, report_html(report if names == "short" else with_long_names(report)), width)
    assert pixels[:, PADDING:-PADDING].max() > 200
    assert pixels[:, :PADDING].max() == 0
    assert pixels[:, -PADDING:].max() == 0
