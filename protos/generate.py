"""Writes protos/generated from the protos: messages, stubs, and their types with the protos' comments.

`--check` writes nothing and fails where the committed code differs from what would be written. The versions
of the generators are exact in pyproject.toml, because their output is committed and because newer ones would
force newer runtimes on bot authors.
"""

from __future__ import annotations

import argparse
import re
import sys
import sysconfig
import tempfile
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

PROTOS = Path(__file__).resolve().parent
GENERATED = PROTOS / "generated"


def main() -> int:
    parser = argparse.ArgumentParser(description="Write protos/generated from protos/wakeng.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where it is out of date")
    check: bool = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        fresh = generate(Path(folder))
    stale = differences(fresh, committed())
    if check:
        return report(stale)
    write(fresh, stale)
    return 0


def generate(folder: Path) -> dict[str, bytes]:
    """What the generators make of all protos, by path under protos/generated."""
    sources = sorted(PROTOS.glob("wakeng/**/*.proto"))
    services = [path for path in sources if re.search(r"^service ", path.read_text("utf-8"), re.MULTILINE)]
    compile_protos(sources, folder, "python", "mypy")
    compile_protos(services, folder, "grpc_python", "mypy_grpc")
    return read(folder)


def compile_protos(sources: list[Path], folder: Path, *generators: str) -> None:
    if not sources:
        return
    plugin = Path(sysconfig.get_path("scripts"), "protoc-gen-mypy")
    arguments = [
        "protoc",
        f"--proto_path={PROTOS}",
        f"--proto_path={files('grpc_tools').joinpath('_proto')}",
        f"--plugin=protoc-gen-mypy={plugin}",
        f"--plugin=protoc-gen-mypy_grpc={plugin}_grpc",
        *(f"--{generator}_out={folder}" for generator in generators),
        *(f"--{generator}_opt=quiet" for generator in generators if generator.startswith("mypy")),
        *(path.relative_to(PROTOS).as_posix() for path in sources),
    ]
    if protoc.main(arguments) != 0:
        raise SystemExit("the proto compiler refused the protos; its message stands above")


def committed() -> dict[str, bytes]:
    return read(GENERATED)


def read(folder: Path) -> dict[str, bytes]:
    """Every generated file under a folder, by its path there."""
    paths = (path for path in sorted(folder.rglob("*_pb2*.py*")) if path.suffix in {".py", ".pyi"})
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def differences(fresh: dict[str, bytes], old: dict[str, bytes]) -> list[str]:
    return sorted(name for name in fresh.keys() | old.keys() if fresh.get(name) != old.get(name))


def report(stale: list[str]) -> int:
    for name in stale:
        print(f"protos/generated/{name} is out of date", file=sys.stderr)
    if stale:
        print("run `make protos` and commit what it writes", file=sys.stderr)
    return 1 if stale else 0


def write(fresh: dict[str, bytes], stale: list[str]) -> None:
    for name in stale:
        path = GENERATED / name
        if name in fresh:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(fresh[name])
        else:
            path.unlink()  # Its proto is gone.


if __name__ == "__main__":
    sys.exit(main())
