"""A chromium, Debian's or Playwright's own, with an ear for everything that a page should not say."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Browser as Chromium
from playwright.async_api import Page, async_playwright

SHOTS: Final = Path(__file__).parent / "shots"
"""Not committed; looked at."""
_CHROMIUM: Final = ("chromium", "chromium-browser", "google-chrome")
_GRAVE: Final = frozenset({"serious", "critical"})


class Complaint(AssertionError):
    """Something a page said that none should."""


@dataclass(slots=True)
class Opened:
    """A page in a window of its own."""

    page: Page
    said: list[str] = field(default_factory=list)
    """Errors, and what the policy had to refuse."""

    def check_silence(self) -> None:
        """Complaint if the page said anything."""
        if self.said:
            raise Complaint("; ".join(self.said))

    async def check_access(self) -> None:
        """Complaint if axe finds a serious fault."""
        # Injected by the debugger and not by the page, so the page's policy stands.
        await self.page.evaluate(AXE_SCRIPT)
        found: dict[str, Any] = await self.page.evaluate("axe.run({resultTypes: ['violations']})")
        grave = [one for one in found["violations"] if one["impact"] in _GRAVE]
        if grave:
            told = [f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}" for one in grave]
            raise Complaint("\n".join(told))

    async def check_width(self) -> None:
        """Complaint if one has to scroll sideways."""
        wide = await self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if wide > 0:
            raise Complaint(f"the page is {wide} pixels too wide")


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser, which opens windows."""

    chromium: Chromium

    @asynccontextmanager
    async def open(
        self,
        url: str,
        *,
        language: str = "en",
        dark: bool = False,
        width: int = 1280,
        cookies: list[Any] | None = None,
    ) -> AsyncIterator[Opened]:
        """A page; what it says by then is checked when it is closed."""
        context = await self.chromium.new_context(
            locale=language,
            color_scheme="dark" if dark else "light",
            viewport={"width": width, "height": 860 if width > 700 else 844},
        )
        if cookies:
            await context.add_cookies(cookies)
        page = await context.new_page()
        page.set_default_timeout(20_000)
        opened = Opened(page)
        page.on("console", lambda said: opened.said.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: opened.said.append(str(error)))
        try:
            if url:
                await page.goto(url)
            yield opened
            opened.check_silence()
        finally:
            await context.close()


@asynccontextmanager
async def browsing() -> AsyncIterator[Browser]:
    """A browser for as long as it is needed; a test that has none fails, and says what to install."""
    async with async_playwright() as playwright:
        names = (*_CHROMIUM, playwright.chromium.executable_path)
        path = next((found for name in names if (found := shutil.which(name))), None)
        assert path is not None, (
            "the pages' tests need a chromium: `apt-get install chromium`, or `.venv/bin/playwright install chromium`"
        )
        chromium = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield Browser(chromium)
        finally:
            await chromium.close()
