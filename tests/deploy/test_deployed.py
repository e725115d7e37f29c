"""What is deployed, read as it would be: image, compose file and Kubernetes overlays, without Docker and a cluster.

Linters and schemas find what is malformed. What is said to be safe (no root, nothing writable, secrets by reference)
is looked at here, and every command and setting held against the code. That the image builds and the pods start is not
tried.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import kubernetes_validate
import pytest
import yaml

from wakeng.cli.main import wakeng
from wakeng.services.settings import load, settings_by_key
from wakeng.services.settings.table import CONFIG_VARIABLE

HOME = Path(__file__).resolve().parents[2]
DEPLOY = HOME / "deploy"
TOOLS = Path(sys.executable).parent
OVERLAYS = sorted(path.parent.name for path in DEPLOY.glob("kubernetes/overlays/*/kustomization.yaml"))
KUBERNETES = ("1.31", "1.34")
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"].startswith("wakeng:")}
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
VARIABLES = {name for s in settings_by_key().values() for name in (s.variable, s.file_variable)} | {CONFIG_VARIABLE}


def check_command(arguments: list[str]) -> None:
    """It is a command line that the command understands; nothing is run."""
    name, *rest = arguments
    command = wakeng.get_command(click.Context(wakeng), name)
    assert command is not None, f"there is no wakeng {name}"
    command.make_context(name, list(rest))


def tag_of(image: str) -> str:
    """An image's tag, which must be there."""
    found = re.fullmatch(r"[\w./-]+:([\w.-]+)", image)
    assert found, f"{image} has no tag"
    return found[1]


# The image --------------------------------------------------------------------------------------------------------


def test_the_linter_finds_nothing_in_the_dockerfile() -> None:
    ran = subprocess.run([TOOLS / "hadolint", DEPLOY / "Dockerfile"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_the_image_is_built_in_stages_and_runs_as_nobody_in_particular() -> None:
    stages = re.findall(r"^FROM (\S+)(?: AS (\w+))?$", DOCKERFILE, re.MULTILINE)
    assert [name for _, name in stages] == ["build", ""]
    assert all(re.search(r":\d+\.\d+\.\d+-", image) for image, _ in stages)
    last = DOCKERFILE.rpartition("FROM ")[2]
    assert "USER 10001:10001" in last
    assert "pip install" not in last


def test_the_image_checks_its_health_by_grpc() -> None:
    (words,) = re.findall(r"^HEALTHCHECK [^\[]*CMD (\[.*\])$", DOCKERFILE.replace("\\\n", ""), re.MULTILINE)
    program, *arguments = yaml.safe_load(words)
    assert (program, arguments[0]) == ("wakeng", "health")
    check_command(arguments)


def test_all_that_the_build_copies_is_sent_to_the_builder() -> None:
    sent = {line[1:] for line in (HOME / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    copied = {
        word for line in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE) for word in line.split()
    }
    assert copied == sent
    assert all((HOME / path).exists() for path in copied)


def test_the_extras_of_the_image_are_those_that_there_are() -> None:
    (extras,) = re.findall(r"'\.\[([\w,]+)\]'", DOCKERFILE)
    known = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert {"server", "postgres", "nats", "otel"} <= set(extras.split(",")) <= set(known)


# The compose file -------------------------------------------------------------------------------------------------


def test_everything_there_should_be_is_there() -> None:
    bots = [name for name in SERVICES if name.startswith("bot-")]
    assert {*SERVICES} == {"arena", "worker", "postgres", "nats", "prometheus", "grafana", *bots}
    assert len(bots) == 2


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_no_more_rights_than_it_needs(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "healthcheck" in service or name == "arena", "the image's own check is the arena's"
    assert name in OURS or tag_of(service["image"]) != "latest"
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


@pytest.mark.parametrize("name", SERVICES)
def test_what_a_service_names_is_declared(name: str) -> None:
    service = SERVICES[name]
    assert set(service.get("secrets", ())) <= set(COMPOSE["secrets"])
    assert set(service["networks"]) <= set(COMPOSE["networks"])
    assert {config["source"] for config in service.get("configs", ())} <= set(COMPOSE["configs"])
    assert set(service.get("depends_on", ())) <= set(SERVICES)
    for volume in service.get("volumes", ()):
        source = volume.partition(":")[0]
        assert (DEPLOY / source).exists() if source.startswith(".") else source in COMPOSE["volumes"]


@pytest.mark.parametrize("name", OURS)
def test_a_service_of_ours_runs_a_command_that_there_is_by_settings_that_there_are(name: str) -> None:
    check_command(OURS[name]["command"])
    assert set(OURS[name].get("environment", {})) <= VARIABLES


def test_no_password_stands_in_the_compose_file() -> None:
    given = [(key, value) for service in SERVICES.values() for key, value in service.get("environment", {}).items()]
    assert [key for key, _ in given if re.search(r"PASSWORD|SECRET|TOKEN", key) and not key.endswith("_FILE")] == []
    assert not re.search(r"://[^:/\s]+:[^@%$\s]+@", yaml.safe_dump(COMPOSE))


def test_prometheus_and_grafana_find_what_they_are_given() -> None:
    scraped = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text("utf-8"))["scrape_configs"]
    assert scraped[0]["static_configs"][0]["targets"] == ["arena:9464"]
    assert scraped[1]["dns_sd_configs"][0]["names"] == ["worker"]
    (source,) = yaml.safe_load((DEPLOY / "grafana/provisioning/datasources/prometheus.yaml").read_text("utf-8"))[
        "datasources"
    ]
    assert source["url"] == "http://prometheus:9090"
    (provider,) = yaml.safe_load((DEPLOY / "grafana/provisioning/dashboards/wakeng.yaml").read_text("utf-8"))[
        "providers"
    ]
    assert f"./grafana/dashboards:{provider['options']['path']}:ro" in SERVICES["grafana"]["volumes"]


# Settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(DEPLOY.rglob("arena.toml")), ids=lambda path: str(path.relative_to(DEPLOY)))
def test_a_file_of_settings_is_good_and_opens_the_arena_to_nobody_without_a_token(path: Path) -> None:
    settings = load(path, environment={}).settings
    assert settings.access.auth is True
    assert settings.serve.listen.startswith("0.0.0.0:")
    assert settings.store.url is settings.nats.url is None, "these are secrets"


# Kubernetes -------------------------------------------------------------------------------------------------------


@cache
def rendered(overlay: str) -> list[dict[str, Any]]:
    """What an overlay comes to."""
    command = [str(TOOLS / "kubectl"), "kustomize", str(DEPLOY / "kubernetes" / "overlays" / overlay)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return [resource for resource in yaml.safe_load_all(ran.stdout) if resource]


def of_kind(overlay: str, kind: str) -> dict[str, dict[str, Any]]:
    return {found["metadata"]["name"]: found for found in rendered(overlay) if found["kind"] == kind}


def containers(overlay: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each container with the pod it is of."""
    for deployment in of_kind(overlay, "Deployment").values():
        pod = deployment["spec"]["template"]["spec"]
        for container in pod["containers"]:
            yield pod, container


@pytest.mark.parametrize("version", KUBERNETES)
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_an_overlay_is_what_kubernetes_takes(overlay: str, version: str) -> None:
    for resource in rendered(overlay):
        kubernetes_validate.validate(resource, version, strict=True)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_container_has_no_more_rights_than_it_needs(overlay: str) -> None:
    for pod, container in containers(overlay):
        assert pod["automountServiceAccountToken"] is pod["enableServiceLinks"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        may = container["securityContext"]
        assert may["readOnlyRootFilesystem"] is True
        assert may["allowPrivilegeEscalation"] is False
        assert may["capabilities"] == {"drop": ["ALL"]}
        assert tag_of(container["image"]) != "latest"
        assert {*container["resources"]["requests"]} == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_secrets_are_named_and_never_given(overlay: str) -> None:
    assert of_kind(overlay, "Secret") == {}
    for _, container in containers(overlay):
        given = {entry["name"]: entry for entry in container["env"]}
        assert set(given) <= VARIABLES
        for name in ("WAKENG_STORE_URL", "WAKENG_NATS_URL"):
            assert "secretKeyRef" in given[name]["valueFrom"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_command_is_one_that_there_is(overlay: str, tmp_path: Path) -> None:
    authority = tmp_path / "ca.crt"
    authority.touch()
    for _, container in containers(overlay):
        check_command(container["args"])
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            if "exec" in (asked := container.get(probe, {})):
                program, *arguments = asked["exec"]["command"]
                assert program == "wakeng"
                check_command([str(authority) if word.endswith("ca.crt") else word for word in arguments])


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_each_pod_is_probed_at_a_port_it_has_and_may_take_longer_to_end_than_the_arena_does(overlay: str) -> None:
    (config,) = of_kind(overlay, "ConfigMap").values()
    grace = tomllib.loads(config["data"]["arena.toml"])["serve"]["grace"]
    for pod, container in containers(overlay):
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        probes = [container[name] for name in container if name.endswith("Probe")]
        assert len(probes) >= 2
        for probe in probes:
            way = probe.get("grpc") or probe.get("httpGet") or probe.get("tcpSocket")
            assert "exec" in probe or way["port"] in {*ports, *ports.values()}
        assert pod["terminationGracePeriodSeconds"] > grace


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_what_a_pod_mounts_is_declared_and_what_selects_it_does(overlay: str) -> None:
    labels = {
        name: found["spec"]["template"]["metadata"]["labels"] for name, found in of_kind(overlay, "Deployment").items()
    }
    for pod, container in containers(overlay):
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    for selector in (
        of_kind(overlay, "Service")["arena"]["spec"]["selector"],
        of_kind(overlay, "PodDisruptionBudget")["worker"]["spec"]["selector"]["matchLabels"],
    ):
        name = selector["app.kubernetes.io/name"]
        assert selector.items() <= labels[name].items()


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_whatever_is_not_allowed_is_denied(overlay: str) -> None:
    policies = of_kind(overlay, "NetworkPolicy")
    default = policies.pop("nothing-else")["spec"]
    assert default == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    allowed = {
        port["port"]
        for policy in policies.values()
        for rule in policy["spec"].get("ingress", ())
        for port in rule["ports"]
    }
    assert allowed == {50050, 9464}


def test_in_production_the_arena_speaks_tls_and_the_workers_follow_the_queue() -> None:
    arena = of_kind("production", "Deployment")["arena"]["spec"]["template"]["spec"]["containers"][0]
    assert {"WAKENG_TLS_CERT", "WAKENG_TLS_KEY"} <= {entry["name"] for entry in arena["env"]}
    assert not any("grpc" in arena[name] for name in arena if name.endswith("Probe")), "which speak no TLS"
    assert "replicas" not in of_kind("production", "Deployment")["worker"]["spec"]
    (metric,) = of_kind("production", "HorizontalPodAutoscaler")["worker"]["spec"]["metrics"]
    adapter = yaml.safe_load((DEPLOY / "kubernetes/overlays/production/prometheus-adapter.yaml").read_text("utf-8"))
    (rule,) = adapter["rules"]["external"]
    assert metric["external"]["metric"]["name"] == rule["name"]["as"]
    assert rule["seriesQuery"] == "wakeng_tournament_hands_queued"
