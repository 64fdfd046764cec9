"""The compose file and the Kubernetes example say what they must; no engine is needed to see that."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft201909Validator

from bot.settings import Service, Settings

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "docker-compose.yml"
KUBERNETES = ROOT / "deploy" / "kubernetes" / "perfsleuth.yaml"
SCHEMA = Path(__file__).parent / "schema" / "compose_spec.json"


def compose() -> dict[str, Any]:
    return yaml.safe_load(COMPOSE.read_text())  # type: ignore[no-any-return]


def objects() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for one in yaml.safe_load_all(KUBERNETES.read_text()):
        found.setdefault(one["kind"], []).append(one)
    return found


def without_extensions(read: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in read.items() if not key.startswith("x-")}


def errors_of(read: dict[str, Any]) -> list[str]:
    validator = Draft201909Validator(json.loads(SCHEMA.read_text()))
    return [error.message for error in validator.iter_errors(without_extensions(read))]


def test_the_compose_file_follows_the_specification() -> None:
    assert errors_of(compose()) == []


def test_the_schema_finds_what_is_wrong() -> None:
    wrong = compose()
    wrong["services"]["bot"]["read_onyl"] = True
    wrong["services"]["lab"]["healthcheck"]["retries"] = "many"
    assert len(errors_of(wrong)) == 2


def test_every_name_that_the_compose_file_uses_is_there() -> None:
    read = compose()
    services = read["services"]
    stages = re.findall(r"^FROM \S+ AS (\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    for one in services.values():
        assert one.get("build", {}).get("target", stages[-1]) in stages
        for name, condition in one.get("depends_on", {}).items():
            assert condition == {"condition": "service_healthy"}
            assert "test" in services[name]["healthcheck"]
        for volume in one.get("volumes", ()):
            assert volume.split(":")[0] in read["volumes"]
        mode = one.get("network_mode", "service:lab")
        assert mode.removeprefix("service:") in services


def test_the_bot_is_hardened_and_its_secrets_are_in_no_file_of_ours() -> None:
    bot = compose()["services"]["bot"]
    assert (bot["read_only"], bot["cap_drop"]) == (True, ["ALL"])
    assert bot["security_opt"] == ["no-new-privileges:true"]
    assert bot["mem_limit"] == "1g"
    assert bot["env_file"] == ["bot.env"]
    assert "/bot.env" in (ROOT / ".gitignore").read_text().splitlines()
    assert "bot.env" in (ROOT / ".dockerignore").read_text().splitlines()
    for line in (ROOT / "deploy" / "bot.env.example").read_text().splitlines():
        assert line.startswith("#") or line.endswith("="), "an example holds no value"
    environment = bot["environment"] | {"PERFSLEUTH_DATABASE_URL": "postgresql://u@database/p"}
    assert Service.load(environment).executor == "auto"


def test_the_pods_run_as_nobody_special_on_a_root_that_cannot_be_written() -> None:
    (of,) = objects()["StatefulSet"]
    pod = of["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 10001
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["requests"].keys() == {"cpu", "memory"}
    assert container["resources"]["limits"] == {"memory": "1Gi"}  # as in the compose file
    written = {
        mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")
    }
    assert written == {"/state", "/tmp"}
    assert {one["name"] for one in container["volumeMounts"]} == {
        one["name"] for one in pod["volumes"]
    }


def test_each_pod_has_a_stable_name_and_is_asked_whether_it_lives() -> None:
    (of,) = objects()["StatefulSet"]
    spec = of["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    environment = {one["name"]: one for one in container["env"]}
    name = environment["PERFSLEUTH_EXECUTOR"]["valueFrom"]["fieldRef"]["fieldPath"]
    assert name == "metadata.name"
    assert spec["replicas"] > 1
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    assert container["readinessProbe"]["httpGet"]["path"] == "/healthz"
    assert container["livenessProbe"]["httpGet"]["path"] == "/livez"  # Slack away: no restart
    ports = {one["name"]: one["containerPort"] for one in container["ports"]}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["port"] in ports
    settings = Service.load({k: v["value"] for k, v in environment.items() if "value" in v})
    assert settings.metrics == ("0.0.0.0", ports["metrics"])


def test_secrets_are_referred_to_and_empty_and_the_network_is_narrow() -> None:
    found = objects()
    names = {one["metadata"]["name"] for one in found["Secret"]}
    assert all(value == "" for one in found["Secret"] for value in one["stringData"].values())
    (of,) = found["StatefulSet"]
    pod = of["spec"]["template"]["spec"]
    used = {one["secretRef"]["name"] for one in pod["containers"][0]["envFrom"]}
    used |= {one["secret"]["secretName"] for one in pod["volumes"] if "secret" in one}
    assert used == names
    (policy,) = found["NetworkPolicy"]
    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert policy["spec"]["podSelector"] == of["spec"]["selector"]
    egress = {port["port"] for rule in policy["spec"]["egress"] for port in rule["ports"]}
    assert egress == {22, 53, 443, 5432}
    assert all(rule.get("from") for rule in policy["spec"]["ingress"])


def test_the_hosts_of_the_example_can_be_read() -> None:
    import tomllib

    (config,) = objects()["ConfigMap"]
    Settings.model_validate(tomllib.loads(config["data"]["hosts.toml"]))


@pytest.mark.parametrize("name", ["Dockerfile", "docker-compose.yml"])
def test_no_secret_and_no_address_of_an_index_is_in_it(name: str) -> None:
    text = (ROOT / name).read_text()
    assert not re.search(r"xox[abp]-|index[-]url|extra[-]index|trusted-host", text)
