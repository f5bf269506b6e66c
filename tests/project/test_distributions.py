"""What a package index shows of every distribution, and that a source distribution is the whole project."""

import email
import re
import subprocess
import tomllib
import zipfile
from email.message import Message
from pathlib import Path

import pytest

from tests.project.conftest import DISTRIBUTIONS

LINKS = re.compile(r"\]\(([^)]+)\)")


def metadata_of(wheel: Path) -> Message:
    """The fields of a wheel, with its README as the payload."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_metadata_says_who_made_it_and_where_it_is(name: str, root: Path, wheels: dict[str, Path]) -> None:
    metadata = metadata_of(wheels[name])
    addresses = dict(each.split(", ") for each in metadata.get_all("Project-URL", []))
    assert addresses == tomllib.loads((root / "pyproject.toml").read_text())["project"]["urls"]
    assert addresses.keys() == {"Changelog", "Documentation", "Issues", "Source"}
    assert all(address.startswith(addresses["Source"]) for address in addresses.values())
    for field in ("Author", "Keywords", "License-Expression", "Requires-Python", "Summary"):
        assert metadata[field], field
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])


def test_the_readme_of_an_index_links_to_the_files_that_the_one_of_the_repository_does(
    root: Path, wheels: dict[str, Path]
) -> None:
    metadata = metadata_of(wheels["hackmatrix"])
    source = tomllib.loads((root / "pyproject.toml").read_text())["project"]["urls"]["Source"]
    links, shown = (LINKS.findall(text) for text in ((root / "README.md").read_text(), str(metadata.get_payload())))
    assert len(links) == len(shown) > 20
    for link, address in zip(links, shown, strict=True):
        folder = "raw" if link.endswith((".png", ".svg")) else "blob"
        assert address == (link if "://" in link else f"{source}/{folder}/main/{link}")
    for name in ("rl-parity", "rlworldkit"):
        assert all("://" in link for link in LINKS.findall(str(metadata_of(wheels[name]).get_payload()))), name


def test_a_source_distribution_is_the_whole_repository(root: Path, sources: dict[str, Path]) -> None:
    if not (root / ".git").exists():
        pytest.skip("These are no files of a git checkout, but of a source distribution.")
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True)
    assert [name for name in listed.stdout.splitlines() if not (sources["hackmatrix"] / name).exists()] == []
