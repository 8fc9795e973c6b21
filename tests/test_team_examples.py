"""The files for workers in docs/examples are what systemd, Slurm's shell and Kubernetes read, and call what there is."""

from __future__ import annotations

import configparser
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from cuecard.core.config import parse_config
from cuecard.tui.commands.main import VERBS

FOLDER = Path(__file__).parent.parent / "docs" / "examples"


@pytest.mark.parametrize("file", sorted(FOLDER.iterdir()), ids=lambda file: file.name)
def test_each_calls_the_verb_with_options_that_it_has(file: Path) -> None:
    text = re.sub(r"\\\n\s*", " ", file.read_text(encoding="utf-8"))
    (line,) = re.findall(r"\S*cuecard\"? (?:--config \S+) +(worker .*)", text)
    (verb,) = (verb for verb in VERBS if verb.name == "worker")
    words = [word for word in line.split()[1:] if word.startswith("-") or word.isdigit()]
    with verb.command().make_context("worker", words) as context:
        assert context.params["concurrency"] == 100


def test_the_unit_restarts_and_is_given_time() -> None:
    unit = configparser.ConfigParser(strict=False)
    unit.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]
    unit.read(FOLDER / "cuecard-worker.service", encoding="utf-8")
    assert unit["Service"]["Restart"] == "always"
    assert int(unit["Service"]["TimeoutStopSec"]) > 10


def test_the_script_is_bash() -> None:
    subprocess.run(["bash", "-n", FOLDER / "cuecard-worker.slurm"], check=True)


def test_the_job_names_what_it_mounts(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (FOLDER / "cuecard-worker.k8s.yaml").read_text(encoding="utf-8")
    made: dict[str, Any] = {each["kind"]: each for each in yaml.safe_load_all(text)}
    pod = made["Job"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["envFrom"][0]["secretRef"]["name"] == made["Secret"]["metadata"]["name"]
    (volume,) = pod["volumes"]
    assert volume["name"] == container["volumeMounts"][0]["name"]
    assert volume["configMap"]["name"] == made["ConfigMap"]["metadata"]["name"]
    monkeypatch.setenv("OPENAI_API_KEY", "a key of nobody")
    config = parse_config(made["ConfigMap"]["data"]["cuecard.yaml"], Path("cuecard.yaml"))
    assert {"searcher"} <= set(config.agents)
