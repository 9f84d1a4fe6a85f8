"""Reports as PDF, printed by Chromium where it is installed."""

import shutil
import subprocess
import tempfile
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
TIMEOUT = 300  # seconds
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer")  # the page is our own file


def find_browser() -> str | None:
    """Return the path of an installed Chromium or Chrome; None if there is none."""
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


def print_page(page: str | Path, pdf: str | Path) -> str | None:
    """Print an HTML page as PDF.

    Args:
        page: The page.
        pdf: Where to write the PDF.

    Returns:
        Why there is no PDF; None if it was written.
    """
    browser = find_browser()
    if browser is None:
        return "no Chromium is installed"
    with tempfile.TemporaryDirectory() as folder:
        printed = Path(folder, "page.pdf")
        command = [browser, *OPTIONS, f"--user-data-dir={folder}/profile", f"--print-to-pdf={printed}"]
        try:
            subprocess.run([*command, Path(page).resolve().as_uri()], capture_output=True, timeout=TIMEOUT, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            return f"{browser} failed: {error}"
        if not printed.is_file():
            return f"{browser} wrote no file"
        shutil.copyfile(printed, pdf)
    return None
