"""Pages as a browser lays them out: each in a frame of a given width, measured by a script of the frame's parent."""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from html import unescape
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium")
QUIET = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync --hide-scrollbars"
).split()
PARENT = """<!DOCTYPE html><meta charset="utf-8"><body></body><script>
const pages = PAGES;
const wait = [];
for (const [name, [page, width]] of Object.entries(pages)) {
  const frame = document.createElement("iframe");
  frame.id = name; frame.width = width; frame.height = 900; frame.style.border = "0";
  wait.push(new Promise(done => { frame.onload = done; }));
  frame.srcdoc = page;
  document.body.append(frame);
}
Promise.all(wait).then(() => {
  const found = {};
  for (const [name, [, width]] of Object.entries(pages)) {
    const inner = document.getElementById(name).contentDocument;
    const shown = [...inner.querySelectorAll("body *")].filter(part => !part.closest(".wide") || part.matches(".wide"));
    found[name] = {
      width: inner.documentElement.scrollWidth,
      beyond: shown.filter(part => part.getBoundingClientRect().right > width + 0.5)
        .map(part => part.outerHTML.slice(0, 80)),
      scrolling: [...inner.querySelectorAll(".wide")].filter(part => part.scrollWidth > part.clientWidth + 1)
        .map(part => part.textContent.trim().slice(0, 60)),
      broken: [...inner.images].filter(image => !image.naturalWidth).length,
      images: inner.images.length,
    };
  }
  document.body.textContent = JSON.stringify(found);
});
</script>"""


def measure(folder: Path, pages: Mapping[str, tuple[bytes, int]]) -> dict[str, dict]:
    """Lay out pages, each at its width, and return what runs beyond its frame.

    Args:
        folder: an empty folder.
        pages: by name a page and the width of its frame, in pixels.
    """
    texts = {name: (page.decode("utf-8"), width) for name, (page, width) in pages.items()}
    content = json.dumps(texts).replace("</", "<\\/")
    (folder / "parent.html").write_text(PARENT.replace("PAGES", content), encoding="utf-8")
    options = [f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=10000", "--dump-dom"]
    done = subprocess.run(
        [CHROMIUM, *QUIET, *options, (folder / "parent.html").as_uri()], check=True, capture_output=True, timeout=120
    )
    (body,) = re.findall("<body>(.*?)</body>", done.stdout.decode("utf-8"), flags=re.DOTALL)
    return json.loads(unescape(body))
