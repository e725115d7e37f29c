"""Data lies where the user says, or where the platform keeps a user's data."""

from pathlib import Path

import pytest

from wakeng.services.data import DataFolder
from wakeng.services.errors import ServiceError
from wakeng.services.store import Store


@pytest.mark.parametrize(
    ("environment", "platform", "folder"),
    [
        ({"WAKENG_DATA": "/d", "XDG_DATA_HOME": "/x", "HOME": "/h"}, "linux", "/d"),
        ({"XDG_DATA_HOME": "/x", "HOME": "/h"}, "linux", "/x/wakeng"),
        ({"XDG_DATA_HOME": "relative", "HOME": "/h"}, "linux", "/h/.local/share/wakeng"),
        ({"WAKENG_DATA": "", "XDG_DATA_HOME": "", "HOME": "/h"}, "linux", "/h/.local/share/wakeng"),
        ({"HOME": "/h"}, "darwin", "/h/Library/Application Support/wakeng"),
        ({"HOME": "/h", "LOCALAPPDATA": "/l"}, "win32", "/l/wakeng"),
    ],
)
def test_the_folder_follows_the_environment(environment: dict[str, str], platform: str, folder: str) -> None:
    assert DataFolder.default(environment, platform=platform).path == Path(folder)


@pytest.mark.parametrize("name", ["plain", "with space", "100%41", "a#b", "挖坑"])
async def test_the_store_opens_at_its_place_whatever_the_folder_is_called(tmp_path: Path, name: str) -> None:
    folder = DataFolder(tmp_path / name).create()
    await (await Store.open(folder.database_url)).close()
    assert folder.database.is_file()
    assert folder.journal("m1") == tmp_path / name / "journal" / "m1.jsonl"
    assert folder.journals.is_dir()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ServiceError, match=r"file.*WAKENG_DATA"):
        DataFolder(tmp_path / "file" / "data").create()
