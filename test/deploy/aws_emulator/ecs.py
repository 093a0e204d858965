"""ECS: task definitions and services keep all that their templates say; ministack keeps a part."""

from typing import Any

from ministack.services import ecs
from ministack.services.cloudformation import provisioners

from .provisioning import Properties, after

CONTAINER_KEYS = {"secrets", "healthCheck", "dependsOn", "ulimits", "linuxParameters"}
"""Parts of a container whose inner names ministack leaves as the template spells them."""

TASK_KEYS = {"RuntimePlatform": "runtimePlatform", "EphemeralStorage": "ephemeralStorage"}
SERVICE_KEYS = {
    "DeploymentController": "deploymentController",
    "EnableECSManagedTags": "enableECSManagedTags",
    "PropagateTags": "propagateTags",
    "EnableExecuteCommand": "enableExecuteCommand",
    "HealthCheckGracePeriodSeconds": "healthCheckGracePeriodSeconds",
    "AvailabilityZoneRebalancing": "availabilityZoneRebalancing",
    "PlatformVersion": "platformVersion",
}


def install() -> None:
    """Keeps what would be lost after each create and update."""
    provisioners._normalize_container_defs = _containers(provisioners._normalize_container_defs)
    after("AWS::ECS::TaskDefinition", _keep_task)
    after("AWS::ECS::Service", _keep_service)


def _containers(normalize: Any) -> Any:
    def normalized(definitions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [container | _camel(container) for container in normalize(definitions)]

    return normalized


def _camel(container: dict[str, Any]) -> dict[str, Any]:
    return {key: provisioners._pascal_to_camel(container[key]) for key in CONTAINER_KEYS & container.keys()}


def _keep(record: dict[str, Any], properties: Properties, keys: dict[str, str]) -> None:
    for ours, theirs in keys.items():
        if ours in properties:
            record[theirs] = provisioners._pascal_to_camel(properties[ours])


def _keep_task(arn: str, properties: Properties, _: dict[str, str]) -> None:
    _keep(ecs._task_defs[arn.rsplit("/", 1)[-1]], properties, TASK_KEYS)


def _keep_service(arn: str, properties: Properties, _: dict[str, str]) -> None:
    cluster, name = arn.rsplit("/", 2)[-2:]
    _keep(ecs._services[f"{cluster}/{name}"], properties, SERVICE_KEYS)
