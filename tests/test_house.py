"""The house keeps its own rules: layout, dependencies, pins, the wheel, and what no file may say."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HOME = Path(__file__).resolve().parent.parent
ROOTS = ("engine", "protos/generated", "bots", "services")
PACKAGES = {
    "wakeng.engine": "engine",
    "wakeng.v1": "protos/generated",
    "wakeng.sdk": "bots",
    "wakeng.bots": "bots",
    "wakeng.cli": "bots",
    "wakeng.services": "services",
}
PROJECT: dict[str, Any] = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))["project"]
DEPENDENCIES: list[str] = [
    *PROJECT["dependencies"],
    *(line for extra in PROJECT["optional-dependencies"].values() for line in extra),
]


def sources(*folders: str) -> list[Path]:
    """The modules written by hand."""
    paths = (path for folder in folders for path in sorted((HOME / folder).rglob("*.py")))
    return [path for path in paths if not re.search(r"_pb2(_grpc)?\.py$", path.name)]


def name(path: Path) -> str:
    return path.relative_to(HOME).as_posix()


MODULES = sources(*ROOTS, "tests")


# The namespace ------------------------------------------------------------------------------------


@pytest.mark.parametrize("root", ROOTS)
def test_a_namespace_folder_has_no_init_which_would_hide_the_other_roots(root: str) -> None:
    assert [path.name for path in (HOME / root / "wakeng").glob("*.py*")] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_is_found_in_its_own_root_and_is_typed(package: str) -> None:
    folder = HOME / PACKAGES[package] / package.replace(".", "/")
    assert import_module(package).__file__ == str(folder / "__init__.py")
    assert (folder / "py.typed").is_file()


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_opens_with_what_it_is_for_and_is_short_enough_to_read(path: Path) -> None:
    text = path.read_text("utf-8")
    assert ast.get_docstring(ast.parse(text)), "a module opens with a sentence that says what it is"
    assert text.count("\n") <= 600


# The layers (those between our own packages are held by import-linter) ----------------------------

# Of the standard library, what acts on the world, or depends on more than its arguments.
IMPURE = frozenset(
    """
    asyncio concurrent contextvars ctypes datetime http io locale logging mmap multiprocessing os pathlib pickle
    platform random secrets select selectors shutil signal socket socketserver sqlite3 ssl subprocess sys tempfile
    threading time urllib uuid
    """.split()
)
ENGINE_MAY_IMPORT = (sys.stdlib_module_names - IMPURE) | {"orjson"}


@pytest.mark.parametrize("path", sources("engine"), ids=name)
def test_the_engine_needs_nothing_but_pure_python_and_orjson(path: Path) -> None:
    strangers = {
        module
        for module in imports(path)
        if module.split(".")[0] not in ENGINE_MAY_IMPORT and not module.startswith("wakeng.engine")
    }
    assert strangers == set()


def imports(path: Path) -> set[str]:
    """The full names of what a module imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


GRPC = "wakeng.sdk.polling.grpc"


@pytest.mark.parametrize("path", sources("bots", "services"), ids=name)
def test_grpc_is_loaded_by_the_one_module_that_settles_how(path: Path) -> None:
    if path.name == "polling.py":
        return
    assert not {module for module in imports(path) if module.split(".")[0] == "grpc"}
    top = [node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.ImportFrom)]
    loading = [f"{node.module}.{alias.name}" for node in top for alias in node.names]
    others = [at for at, module in enumerate(loading) if module.startswith("grpc_")]
    assert not others or GRPC in loading[: others[0]], "before whatever else loads it"


# Dependencies and pins ----------------------------------------------------------------------------


@pytest.mark.parametrize("dependency", DEPENDENCIES)
def test_a_dependency_gives_its_reason_in_one_sentence(dependency: str) -> None:
    lines = (HOME / "pyproject.toml").read_text("utf-8").splitlines()
    found = [line for line in lines if f'"{dependency}",' in line]
    assert found and all(re.search(r'",\s+# [A-Z/].{10,}\.$', line) for line in found)


def pins() -> dict[str, str]:
    lines = (HOME / "constraints.txt").read_text("utf-8").splitlines()
    return dict(line.split("==") for line in lines)


def test_constraints_are_exact_pins_in_order_and_nothing_else() -> None:
    lines = (HOME / "constraints.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9][\w.-]*==[0-9][\w.]*", line)] == []
    names = [canonicalize_name(pin) for pin in pins()]
    assert len(set(names)) == len(lines)


@pytest.mark.parametrize("dependency", DEPENDENCIES)
def test_a_dependency_is_pinned_within_its_range(dependency: str) -> None:
    requirement = Requirement(dependency)
    pinned = {canonicalize_name(pin): version for pin, version in pins().items()}
    assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)])


# What is installed --------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of the files in the wheel, built without a download."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=HOME, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_all_packages_and_nothing_beside_them(wheel: set[str]) -> None:
    assert {file.split("/")[0] for file in wheel} == {"wakeng", f"wakeng-{PROJECT['version']}.dist-info"}
    # A module directly in the namespace would show here too.
    assert {f"wakeng.{file.split('/')[1]}" for file in wheel if file.startswith("wakeng/")} == set(PACKAGES)


def test_the_wheel_holds_every_file_of_the_packages(wheel: set[str], files: dict[str, str]) -> None:
    roots = "|".join(ROOTS)
    ours = {re.sub(f"^({roots})/wakeng/", "wakeng/", file) for file in files if re.match(f"({roots})/wakeng/", file)}
    assert ours - wheel == set()


ENTRY_POINTS: dict[str, str] = {
    **PROJECT["scripts"],
    **PROJECT.get("entry-points", {}).get("wakeng.commands", {}),
}


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_an_entry_point_leads_to_something_that_can_be_called(entry: str) -> None:
    module, _, attribute = ENTRY_POINTS[entry].partition(":")
    assert callable(getattr(import_module(module), attribute))


# What the documents say ---------------------------------------------------------------------------


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (HOME / "Makefile").read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_what_a_document_tells_to_make_can_be_made(document: str) -> None:
    text = (HOME / document).read_text("utf-8")
    told = set(re.findall(r"(?:`|^\s*(?:\$ )?)make ([a-z-]+)", text, re.MULTILINE))
    assert told, "a document that names no command is not the one this test is about"
    assert told - targets() == set()


def test_help_tells_of_every_target() -> None:
    told = subprocess.run(["make", "help"], cwd=HOME, check=True, capture_output=True, text=True).stdout
    assert set(re.findall(r"^  make ([a-z-]+)", told, re.MULTILINE)) == targets()


def test_ci_can_run_its_script() -> None:
    assert os.access(HOME / ".ci" / "run", os.X_OK)


# What no file may say -----------------------------------------------------------------------------

FORBIDDEN = {
    "a package host": r"pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|debian\.org|golang\.org|crates\.io",
    "a choice of package host": r"-{2}(?:(?:extra-)?index-url|find-links|trusted-host)\b",
    "a path of one machine": r"(?<![\w.])/(?:(?:root|work|Users|home)/\w|opt/(?:wheels|pypi))|C:\\Users",
    "a place outside the repository": r"\.\./shared",
}


@pytest.fixture(scope="session")
def files() -> dict[str, str]:
    """Every text file that is, or would be, committed."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listing, cwd=HOME, check=True, capture_output=True, text=True).stdout.split("\0")
    data = {file: (HOME / file).read_bytes() for file in names if (HOME / file).is_file()}
    return {file: content.decode("utf-8", "replace") for file, content in data.items() if b"\0" not in content}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_names(what: str, files: dict[str, str]) -> None:
    named = [f"{file}: {found.group()}" for file, text in files.items() if (found := re.search(FORBIDDEN[what], text))]
    assert named == []
